//! The sign-in that a server wants before it answers a request, and the error that clients get for it.

use mcp_wire::{ErrorObject, Json, Map};

/// The error by which a server refuses a token that lacks a scope (RFC 6750, section 3.1).
pub const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// A sign-in that a request needs, and that its client does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeededSignIn {
    /// The reason and what to do, for people.
    pub why: String,
    /// The URL of the server.
    pub resource: String,
    /// The scopes that the server names, separated by spaces.
    pub scope: Option<String>,
    /// The page at which a person signs in, while a sign-in waits for one.
    pub page: Option<String>,
    /// Set if there is a token, and it lacks a scope.
    pub lacks_scope: bool,
}

impl NeededSignIn {
    /// Creates one with a reason for people only.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            ..Self::default()
        }
    }

    /// Returns the error of a request: its `data` has `reason`, which is `sign-in-required` or `insufficient-scope`, `resource`,
    /// `scope` and the `url` of the page.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        let reason = if self.lacks_scope {
            "insufficient-scope"
        } else {
            "sign-in-required"
        };
        let mut data = Map::from_iter([("reason", Json::of(reason))]);
        data.insert("resource", Json::of(&*self.resource));
        let others = [("scope", &self.scope), ("url", &self.page)];
        for (name, text) in others {
            if let Some(text) = text {
                data.insert(name, Json::of(&**text));
            }
        }
        let error = crate::errors::internal(&self.why).error;
        error.with_data(Json::of(&data))
    }
}
