//! The definitions by which a schema lists its messages, and what answers a request: for all readers of a schema.

use mcp_wire::Direction::{ClientToServer, ServerToClient};
use mcp_wire::MethodKind::{Input, Notification, Request};
use mcp_wire::{Direction, MethodKind};
use serde_json::Value;

use super::canonical::definition;

/// A union of the messages that one side may send in one way; an unknown method is a case of its own there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// The definition.
    pub union: &'static str,
    /// Who sends them.
    pub direction: Direction,
    /// Requests, notifications or embedded requests.
    pub kind: MethodKind,
}

const fn role(union: &'static str, direction: Direction, kind: MethodKind) -> Role {
    Role {
        union,
        direction,
        kind,
    }
}

/// All of them.
pub const ROLES: &[Role] = &[
    role("ClientRequest", ClientToServer, Request),
    role("ClientNotification", ClientToServer, Notification),
    role("ServerRequest", ServerToClient, Request),
    role("ServerNotification", ServerToClient, Notification),
    role("InputRequest", ServerToClient, Input),
];

/// Whether a schema lists messages itself, apart from those within results.
pub(crate) fn lists(schema: &Value) -> bool {
    let mut of_core = (ROLES.iter()).filter(|role| role.kind != Input);
    of_core.any(|role| definition(schema, role.union).is_some())
}

/// Returns the kind of a message that no union lists, by its method.
#[must_use]
pub fn kind_of(method: &str) -> MethodKind {
    match method.starts_with("notifications/") {
        true => Notification,
        false => Request,
    }
}

/// Returns the stem that a request shares with its result and response: `CallTool` of `CallToolRequest`.
#[must_use]
pub fn stem(request: &str) -> &str {
    request.strip_suffix("Request").unwrap_or(request)
}

/// Returns the definition of the whole response, by which a schema pairs a request with its result.
#[must_use]
pub fn response(stem: &str) -> String {
    format!("{stem}ResultResponse")
}

/// Returns the definition of a result that is paired only by its name.
#[must_use]
pub fn result(stem: &str) -> String {
    format!("{stem}Result")
}
