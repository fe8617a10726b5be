//! Reading and writing the types of `messages`.

use crate::{Holder, HolderKind, OptionItem};

mcp_wire::record! {
    Holder open {
        0 "kind": optional kind;
        1 "option": optional option;
    }
}

mcp_wire::strings! {
    HolderKind {
        A "a";
        B "b";
    }
}

mcp_wire::record! {
    OptionItem open {
        0 "value": required value;
    }
}

mcp_wire::serde_bridge!(Holder, HolderKind, OptionItem);
