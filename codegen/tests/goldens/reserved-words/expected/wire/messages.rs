//! Reading and writing the types of `messages`.

use crate::{Word, Words};

mcp_wire::strings! {
    Word {
        SelfValue "self";
        Type "type";
    }
}

mcp_wire::record! {
    Words open {
        2 "$ref": optional ref_;
        3 "async": optional async_;
        0 "member": required member;
        4 "object": optional object;
        5 "reader": optional reader;
        6 "self": optional self_;
        1 "type": required type_;
    }
}

mcp_wire::serde_bridge!(Word, Words);
