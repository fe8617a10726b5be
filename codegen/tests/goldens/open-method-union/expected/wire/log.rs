//! Reading and writing the types of `log`.

use crate::{DoneNotification, LogParams};

mcp_wire::record! {
    DoneNotification open {
        const 0 "method": constant("notifications/done");
    }
}

mcp_wire::record! {
    LogParams open {
        0 "text": required text;
    }
}

mcp_wire::serde_bridge!(DoneNotification, LogParams);
