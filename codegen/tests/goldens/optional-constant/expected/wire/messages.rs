//! Reading and writing the types of `messages`.

use crate::{Form, FormKind};

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

mcp_wire::serde_bridge!(Form, FormKind);
