//! The methods of this revision, and what ties each to its params and its result.

use mcp_wire::{Direction, MethodInfo, MethodKind, NoParams, TypeInfo};

use crate::{DoneNotification, LogNotification, LogParams, ServerNotification};

/// Every method, by direction, kind and name.
pub static METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "notifications/done",
        direction: Direction::ServerToClient,
        kind: MethodKind::Notification,
        message: "DoneNotification",
        params: None,
        params_required: false,
        result: None,
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    },
    MethodInfo {
        name: "notifications/log",
        direction: Direction::ServerToClient,
        kind: MethodKind::Notification,
        message: "LogNotification",
        params: Some("LogParams"),
        params_required: true,
        result: None,
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    },
];

/// Every definition of the schema, and every inline schema that has a type of its own.
pub static TYPES: &[TypeInfo] = &[
    TypeInfo::of::<DoneNotification>("DoneNotification", "DoneNotification"),
    TypeInfo::of::<LogNotification>("LogNotification", "LogNotification"),
    TypeInfo::of::<LogParams>("LogParams", "LogParams"),
    TypeInfo::of::<ServerNotification>("ServerNotification", "ServerNotification"),
];

impl mcp_wire::Notification for DoneNotification {
    const METHOD: &'static str = "notifications/done";
    type Params = NoParams;
}

impl mcp_wire::Notification for LogNotification {
    const METHOD: &'static str = "notifications/log";
    type Params = LogParams;
}
