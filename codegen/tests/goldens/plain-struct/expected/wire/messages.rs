//! Reading and writing the types of `messages`.

use crate::Point;

mcp_wire::record! {
    Point open {
        0 "label": required label;
        1 "pinned": required pinned;
        2 "x": required x;
        3 "y": required y;
    }
}

mcp_wire::serde_bridge!(Point);
