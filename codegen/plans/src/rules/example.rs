//! The result of a rule on one value: a text of the one revision and its counterpart in the other.

use serde::Deserialize;

use mcp_convert::Adapter;
use mcp_revisions_schema::pair::{MethodSender, StepDirection};

/// An example as it is written; reading it says whether it is one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    pub(super) way: Option<StepDirection>,
    /// The sender of the method, where both sides may send it and the rule names neither.
    pub(super) sender: Option<MethodSender>,
    #[serde(default)]
    pub(super) session: SessionFacts,
    /// JSON of the source.
    pub(super) input: String,
    /// JSON of the target, or how the conversion ends: `needs handshake`, `rejected -32602`, `dropped`.
    pub(super) output: String,
    /// The places where the rule records a loss, an addition or a replacement.
    #[serde(default)]
    pub(super) loses: Vec<String>,
}

/// The facts of a session, each as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct SessionFacts {
    /// The capabilities of the client.
    pub client_capabilities: Option<String>,
    /// The name and version of the client.
    pub client_info: Option<String>,
    /// For which stream a notification is.
    pub subscription_id: Option<String>,
}

/// An example that can be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'r> {
    /// The rule.
    pub rule: &'r str,
    /// The kind of the texts.
    pub of: SampleSubject<'r>,
    /// The direction.
    pub way: StepDirection,
    /// The sender of the method, where the row names one.
    pub sender: Option<MethodSender>,
    /// The facts of the session.
    pub session: &'r SessionFacts,
    /// JSON of the source.
    pub input: &'r str,
    /// The end of the conversion.
    pub ending: ExampleEnding<'r>,
    /// The places where the rule records something.
    pub loses: &'r [String],
}

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleSubject<'r> {
    /// A value of a definition.
    Type(&'r str),
    /// The params of a method.
    Params(&'r str),
    /// The result of a method.
    Result(&'r str),
    /// The error that answers a method.
    Error(&'r str),
}

impl std::fmt::Display for SampleSubject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Type(name) => f.write_str(name),
            Self::Params(method) => write!(f, "params of {method}"),
            Self::Result(method) => write!(f, "result of {method}"),
            Self::Error(method) => write!(f, "error of {method}"),
        }
    }
}

/// The end of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleEnding<'r> {
    /// With this text.
    Value(&'r str),
    /// An adapter has to do it.
    Needs(Adapter),
    /// With an error of this code.
    Rejected(i64),
    /// The notification ends there.
    Dropped,
}
