//! Reading and writing the types of `messages`.

use crate::{Tool, ToolItem};

mcp_wire::record! {
    Tool open {
        0 "name": required name;
        1 "title": optional title;
    }
}

mcp_wire::record! {
    ToolItem open {
        0 "name": required name;
        1 "title": optional title;
    }
}

mcp_wire::serde_bridge!(Tool, ToolItem);
