//! Reading and writing the types of `messages`.

use crate::{Hints, Task, Tool};

mcp_wire::record! {
    Hints open {
        0 "readOnly": optional read_only;
    }
}

mcp_wire::record! {
    Task open {
        2 "note": nullable note;
        0 "owner": required owner;
        1 "ttl": required ttl;
    }
}

mcp_wire::record! {
    Tool open {
        0 "name": required name;
        1 "sizes": optional sizes;
        2 "title": optional title;
    }
}

mcp_wire::serde_bridge!(Hints, Task, Tool);
