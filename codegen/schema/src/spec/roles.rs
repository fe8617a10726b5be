//! The definitions by which a schema lists its messages, and what answers a request: for all readers of a schema.

use mcp_wire::Direction::{ClientToServer, ServerToClient};
use mcp_wire::MethodKind::{Input, Notification, Request};
use mcp_wire::{Direction, MethodKind};
use serde_json::Value;

use super::Revision;
use super::canonical::{definition, definitions};

/// A union of the messages that one side may send in one way; an unknown method is a case of its own there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRole {
    /// The definition.
    pub union: &'static str,
    /// The sender.
    pub direction: Direction,
    /// Requests, notifications or embedded requests.
    pub kind: MethodKind,
}

const fn role(union: &'static str, direction: Direction, kind: MethodKind) -> MessageRole {
    MessageRole {
        union,
        direction,
        kind,
    }
}

/// All of them.
pub const ROLES: &[MessageRole] = &[
    role("ClientRequest", ClientToServer, Request),
    role("ClientNotification", ClientToServer, Notification),
    role("ServerRequest", ServerToClient, Request),
    role("ServerNotification", ServerToClient, Notification),
    role("InputRequest", ServerToClient, Input),
];

/// Returns whether a schema lists messages itself, apart from those within results.
pub fn lists(schema: &Value) -> bool {
    let mut of_core = (ROLES.iter()).filter(|role| role.kind != Input);
    of_core.any(|role| definition(schema, role.union).is_some())
}

/// Returns the kind of a message that no union lists, by its method.
pub fn kind_of(method: &str) -> MethodKind {
    if method.starts_with("notifications/") {
        Notification
    } else {
        Request
    }
}

/// Returns the kind of a message that no union lists, by any segment of its method or by the name of its definition.
pub(crate) fn likely_kind(method: &str, definition: &str) -> MethodKind {
    let is_notification = method.split('/').any(|segment| segment == "notifications")
        || definition.ends_with("Notification");
    if is_notification {
        Notification
    } else {
        Request
    }
}

/// Returns the stem that a request shares with its result and response: `CallTool` of `CallToolRequest`.
pub fn stem(request: &str) -> &str {
    request.strip_suffix("Request").unwrap_or(request)
}

/// Returns the definition of the whole response, by which a schema pairs a request with its result.
pub fn response(stem: &str) -> String {
    format!("{stem}ResultResponse")
}

/// Returns the definition of a result that is paired only by its name.
pub fn result(stem: &str) -> String {
    format!("{stem}Result")
}

/// Returns whether the params of a request have a member, whichever of their shapes they have.
pub fn takes(revision: &Revision, method: &str, member: &str) -> bool {
    fn has(revision: &Revision, schema: &Value, member: &str, depth: usize) -> bool {
        if schema["properties"].get(member).is_some() {
            return true;
        }
        let named = (schema.get("$ref").and_then(Value::as_str))
            .and_then(|name| revision.definition(name.strip_prefix("#/$defs/")?));
        let choices = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|key| schema.get(key)?.as_array());
        let mut below = named.into_iter().chain(choices.flatten());
        // A reference may lead back to where it stands.
        depth < 8 && below.any(|schema| has(revision, schema, member, depth + 1))
    }
    let request = request(revision, method).and_then(|name| revision.definition(name));
    let params = request.and_then(|request| request.pointer("/properties/params"));
    params.is_some_and(|params| has(revision, params, member, 0))
}

/// Returns all methods of a revision, of requests and notifications.
pub fn methods(revision: &Revision) -> Vec<String> {
    (messages(&revision.schema))
        .map(|(method, _)| method.to_owned())
        .collect()
}

/// Returns the method and definition of each message of a canonical schema.
pub fn messages(schema: &Value) -> impl Iterator<Item = (&str, &str)> {
    definitions(schema).filter_map(|(name, definition)| Some((method_of(definition)?, name)))
}

/// Returns the definition of the request of a method.
pub(crate) fn request<'r>(revision: &'r Revision, method: &str) -> Option<&'r str> {
    let is_request = kind_of(method) == Request;
    let messages = messages(&revision.schema).filter(|(of, _)| is_request && *of == method);
    messages.last().map(|(_, name)| name)
}

/// Returns the constant of `method`, of the definition itself or of a part that it is put together from.
fn method_of(definition: &Value) -> Option<&str> {
    let method = definition.get("properties").and_then(|of| of.get("method"));
    let own = method.and_then(|method| method.get("const")?.as_str());
    own.or_else(|| {
        let parts = definition.get("allOf")?.as_array()?;
        parts.iter().find_map(method_of)
    })
}
