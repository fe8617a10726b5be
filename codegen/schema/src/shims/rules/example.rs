//! What a rule comes to, on one value: a text of the one revision and what stands for it in the other.

use serde::{Deserialize, Serialize};

use crate::shims::pair::{Sender, Way};
use mcp_convert::Adapter;

/// An example as it is written; reading it says whether it is one.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The definition that both texts are of.
    pub(super) r#type: Option<String>,
    /// The method whose params they are.
    pub(super) params: Option<String>,
    /// The method whose result they are.
    pub(super) result: Option<String>,
    /// The method that they answer as an error.
    pub(super) error: Option<String>,
    /// The way that it goes; the rule's own, where it speaks of one.
    pub(super) way: Option<Way>,
    /// Who sends the method, where both may and the rule speaks of neither.
    pub(super) sender: Option<Sender>,
    /// What the session knows.
    #[serde(default)]
    pub(super) session: Facts,
    /// JSON of the source.
    pub(super) input: String,
    /// JSON of the target, or how the conversion ends: `needs handshake`, `rejected -32602`, `dropped`.
    pub(super) output: String,
    /// Where the rule records that something is lost, added or replaced.
    #[serde(default)]
    pub(super) loses: Vec<String>,
}

/// What a session knows, each as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Facts {
    /// What the client can do.
    pub client_capabilities: Option<String>,
    /// Which client it is.
    pub client_info: Option<String>,
    /// For which stream a notification is.
    pub subscription_id: Option<String>,
}

/// An example that can be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'r> {
    /// The rule.
    pub rule: &'r str,
    /// What the texts are.
    pub of: Of<'r>,
    /// Which way it goes.
    pub way: Way,
    /// Who sends the method, where that is said.
    pub sender: Option<Sender>,
    /// What the session knows.
    pub session: &'r Facts,
    /// JSON of the source.
    pub input: &'r str,
    /// What becomes of it.
    pub ending: Ending<'r>,
    /// Where the rule records something.
    pub loses: &'r [String],
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of<'r> {
    /// A value of a definition.
    Type(&'r str),
    /// The params of a method.
    Params(&'r str),
    /// The result of a method.
    Result(&'r str),
    /// The error that answers a method.
    Error(&'r str),
}

impl std::fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type(name) => f.write_str(name),
            Self::Params(method) => write!(f, "params of {method}"),
            Self::Result(method) => write!(f, "result of {method}"),
            Self::Error(method) => write!(f, "error of {method}"),
        }
    }
}

/// How a conversion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'r> {
    /// With this text.
    Value(&'r str),
    /// An adapter has to do it.
    Needs(Adapter),
    /// With an error of this code.
    Rejected(i64),
    /// The notification ends there.
    Dropped,
}
