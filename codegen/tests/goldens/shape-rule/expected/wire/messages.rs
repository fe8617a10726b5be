//! Reading and writing the types of `messages`.

use crate::Tool;

mcp_wire::record! {
    Tool open {
        1 "_meta": optional meta;
        2 "any": json any;
        0 "inputSchema": required input_schema;
    }
}

mcp_wire::serde_bridge!(Tool);
