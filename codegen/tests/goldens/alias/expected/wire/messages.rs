//! Reading and writing the types of `messages`.

use crate::Tool;

mcp_wire::record! {
    Tool open {
        0 "name": required name;
    }
}

mcp_wire::serde_bridge!(Tool);
