//! Reading and writing the types of `messages`.

use crate::{Owner, Task};

mcp_wire::record! {
    Owner open {
        0 "name": required name;
    }
}

mcp_wire::record! {
    Task open {
        2 "note": nullable note;
        0 "owner": required owner;
        1 "ttl": required ttl;
    }
}

mcp_wire::serde_bridge!(Owner, Task);
