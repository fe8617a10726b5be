//! Reading and writing the types of `messages`.

use crate::{Report, Tool};

mcp_wire::record! {
    Report open {
        0 "scores": required scores;
        1 "tools": optional tools;
    }
}

mcp_wire::record! {
    Tool open {
        0 "name": required name;
    }
}

mcp_wire::serde_bridge!(Report, Tool);
