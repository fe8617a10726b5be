//! Reading and writing the types of `messages`.

use crate::{Hints, Tool};

mcp_wire::record! {
    Hints open {
        0 "readOnly": optional read_only;
    }
}

mcp_wire::record! {
    Tool open {
        0 "name": required name;
        1 "sizes": optional sizes;
        2 "title": optional title;
    }
}

mcp_wire::serde_bridge!(Hints, Tool);
