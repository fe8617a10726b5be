//! The methods of this revision, and what ties each to its params and its result.

use mcp_wire::{Direction, MethodInfo, MethodKind, NoParams, TypeInfo};

use crate::{
    ClientRequest, EchoParams, EchoRequest, EchoResult, ServerNotification,
    TickNotification,
};

/// Every method, by direction, kind and name.
pub static METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "echo/say",
        direction: Direction::ClientToServer,
        kind: MethodKind::Request,
        message: "EchoRequest",
        params: Some("EchoParams"),
        params_required: true,
        result: Some("EchoResult"),
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    },
    MethodInfo {
        name: "notifications/echo/tick",
        direction: Direction::ServerToClient,
        kind: MethodKind::Notification,
        message: "TickNotification",
        params: None,
        params_required: false,
        result: None,
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    },
];

/// Every definition of the schema, and every inline schema that has a type of its own.
pub static TYPES: &[TypeInfo] = &[
    TypeInfo::of::<ClientRequest>("ClientRequest", "ClientRequest"),
    TypeInfo::of::<EchoParams>("EchoParams", "EchoParams"),
    TypeInfo::of::<EchoRequest>("EchoRequest", "EchoRequest"),
    TypeInfo::of::<EchoResult>("EchoResult", "EchoResult"),
    TypeInfo::of::<ServerNotification>("ServerNotification", "ServerNotification"),
    TypeInfo::of::<TickNotification>("TickNotification", "TickNotification"),
];

impl mcp_wire::Request for EchoRequest {
    const METHOD: &'static str = "echo/say";
    type Params = EchoParams;
    type Result = EchoResult;
}

impl mcp_wire::Notification for TickNotification {
    const METHOD: &'static str = "notifications/echo/tick";
    type Params = NoParams;
}
