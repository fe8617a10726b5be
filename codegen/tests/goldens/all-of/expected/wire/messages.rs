//! Reading and writing the types of `messages`.

use crate::{File, Measured, Named};

mcp_wire::record! {
    File open {
        const 0 "kind": constant("file");
        3 "meta": optional meta;
        1 "name": required name;
        2 "size": required size;
    }
}

mcp_wire::record! {
    Measured open {
        0 "meta": optional meta;
        1 "size": optional size;
    }
}

mcp_wire::record! {
    Named open {
        1 "meta": optional meta;
        0 "name": required name;
    }
}

mcp_wire::serde_bridge!(File, Measured, Named);
