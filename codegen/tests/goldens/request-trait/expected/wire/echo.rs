//! Reading and writing the types of `echo`.

use crate::{EchoParams, EchoResult, TickNotification};

mcp_wire::record! {
    EchoParams open {
        0 "text": required text;
    }
}

mcp_wire::record! {
    EchoResult open {
        0 "text": required text;
    }
}

mcp_wire::record! {
    TickNotification open {
        const 0 "method": constant("notifications/echo/tick");
    }
}

mcp_wire::serde_bridge!(EchoParams, EchoResult, TickNotification);
