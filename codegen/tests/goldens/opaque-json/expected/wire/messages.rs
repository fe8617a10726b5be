//! Reading and writing the types of `messages`.

use crate::Call;

mcp_wire::record! {
    Call open {
        0 "anything": required anything;
        1 "arguments": required arguments;
        2 "list": required list;
        3 "maybe": json maybe;
    }
}

mcp_wire::serde_bridge!(Call);
