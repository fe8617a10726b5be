//! Reading and writing the types of `messages`.

use crate::Tool;

mcp_wire::record! {
    Tool open {
        1 "_meta": optional meta;
        2 "any": json any;
        0 "inputSchema": required input_schema in mcp_wire::Frame::members("Tool.inputSchema", &["properties", "type"], &[1], &[mcp_wire::Frame::Object, mcp_wire::Frame::Constant("object")]);
    }
}

mcp_wire::serde_bridge!(Tool);
