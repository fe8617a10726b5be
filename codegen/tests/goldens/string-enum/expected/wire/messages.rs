//! Reading and writing the types of `messages`.

use crate::{Level, Only};

mcp_wire::strings! {
    Level {
        N2d "2d";
        NA "N/A";
        DateTime "date-time";
        Debug "debug";
        ThisServer "thisServer";
    }
}

mcp_wire::strings! {
    Only {
        One "one";
    }
}

mcp_wire::serde_bridge!(Level, Only);
