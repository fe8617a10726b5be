//! The methods and the types of this revision, as tables.

use crate::{
    ClientRequest, EchoParams, EchoRequest, EchoResult, ServerNotification,
    TickNotification,
};

mcp_wire::methods! {
    "echo/say" ClientToServer Request { message: "EchoRequest", params: Some("EchoParams"), params_required: true, result: Some("EchoResult") };
    "notifications/echo/tick" ServerToClient Notification { message: "TickNotification" };
}

mcp_wire::types! {
    ClientRequest "ClientRequest" of;
    EchoParams "EchoParams" of;
    EchoRequest "EchoRequest" of;
    EchoResult "EchoResult" of;
    ServerNotification "ServerNotification" of;
    TickNotification "TickNotification" of;
}
