//! Reading and writing the types of `messages`.

use crate::{Closed, Point, Typed};

mcp_wire::record! {
    Closed closed {
        0 "name": required name;
    }
}

mcp_wire::record! {
    Point open {
        0 "label": required label;
        1 "pinned": required pinned;
        2 "x": required x;
        3 "y": required y;
    }
}

mcp_wire::record! {
    Typed typed {
        0 "name": required name;
    }
}

mcp_wire::serde_bridge!(Closed, Point, Typed);
