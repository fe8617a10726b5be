//! The methods and the types of this revision, as tables.

use crate::{DoneNotification, LogNotification, LogParams, ServerNotification};

mcp_wire::methods! {
    "notifications/done" ServerToClient Notification { message: "DoneNotification" };
    "notifications/log" ServerToClient Notification { message: "LogNotification", params: Some("LogParams"), params_required: true };
}

mcp_wire::types! {
    DoneNotification "DoneNotification" of;
    LogNotification "LogNotification" of;
    LogParams "LogParams" of;
    ServerNotification "ServerNotification" of;
}
