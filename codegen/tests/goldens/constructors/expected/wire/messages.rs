//! Reading and writing the types of `messages`.

use crate::{Author, Page, PageScope};

mcp_wire::record! {
    Author open {
        1 "name": optional name;
        0 "speaks": required speaks;
    }
}

mcp_wire::record! {
    Page open {
        0 "body": required body;
        1 "by": required by;
        2 "number": required number;
        3 "scope": required scope;
        4 "uri": required uri;
    }
}

mcp_wire::strings! {
    PageScope {
        All "all";
        Mine "mine";
    }
}

mcp_wire::serde_bridge!(Author, Page, PageScope);
