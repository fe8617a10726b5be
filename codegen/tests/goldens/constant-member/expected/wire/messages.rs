//! Reading and writing the types of `messages`.

use crate::Packet;

mcp_wire::record! {
    Packet open {
        const 0 "code": constant_number("-32603.0");
        const 1 "jsonrpc": constant("2.0");
        const 2 "version": constant_integer(3);
        3 "name": required name;
    }
}

mcp_wire::serde_bridge!(Packet);
