//! Reading and writing the types of `messages`.

use crate::{Closed, Open, Typed};

mcp_wire::record! {
    Closed closed {
        0 "name": required name;
    }
}

mcp_wire::record! {
    Open open {
        0 "name": required name;
    }
}

mcp_wire::record! {
    Typed typed {
        0 "name": required name;
    }
}

mcp_wire::serde_bridge!(Closed, Open, Typed);
