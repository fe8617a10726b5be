//! Reading and writing the types of `messages`.

use crate::{Form, FormKind, Packet};

mcp_wire::record! {
    Form open {
        1 "kind": optional kind;
        0 "title": required title;
    }
}

mcp_wire::strings! {
    FormKind {
        Form "form";
    }
}

mcp_wire::record! {
    Packet open {
        const 0 "code": constant_literal("-32603.0");
        const 1 "jsonrpc": constant("2.0");
        const 2 "version": constant_literal("3");
        3 "name": required name;
    }
}

mcp_wire::serde_bridge!(Form, FormKind, Packet);
