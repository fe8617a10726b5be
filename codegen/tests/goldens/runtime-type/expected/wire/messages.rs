//! Reading and writing the types of `messages`.

use crate::Cancel;

mcp_wire::record! {
    Cancel open {
        0 "id": required id;
    }
}

mcp_wire::serde_bridge!(Cancel);
