//! Reading and writing the types of `messages`.

use crate::{Tool, ToolAnnotations, ToolIcons};

mcp_wire::record! {
    Tool open {
        1 "annotations": optional annotations;
        2 "icons": optional icons;
        0 "name": required name;
    }
}

mcp_wire::record! {
    ToolAnnotations open {
        0 "title": optional title;
    }
}

mcp_wire::record! {
    ToolIcons open {
        0 "src": required src;
    }
}

mcp_wire::serde_bridge!(Tool, ToolAnnotations, ToolIcons);
