//! The rows of `spec/shims/<old>..<new>.toml`, as they are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use crate::Error;
use crate::shims::pair::Way;
use crate::spec::rules::RuleFile;

/// All rows of a file, with their places in it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rows {
    pub(super) also: Vec<Spanned<Also>>,
    pub(super) rename: Vec<Spanned<Rename>>,
    pub(super) rule: Vec<Spanned<Rule>>,
    pub(super) method: Vec<Spanned<MethodRule>>,
    pub(super) error: Vec<Spanned<ErrorRule>>,
}

/// Rows with their byte offsets.
pub(super) fn placed<T>(rows: &[Spanned<T>]) -> impl Iterator<Item = (usize, &T)> {
    rows.iter().map(|row| (row.span().start, row.get_ref()))
}

/// An error about a row.
pub(super) fn error(
    file: &RuleFile,
    offset: usize,
    id: &str,
    problem: &str,
    reason: &str,
) -> Error {
    file.error(offset, format!("rule `{id}`"), problem, reason, "")
}

/// A type that no method of both revisions reaches, and that an adapter of the runtime converts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Also {
    pub(super) r#type: String,
    pub(super) reason: String,
}

/// Two types that are one, under two names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rename {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) reason: String,
}

impl Rename {
    /// How errors name it.
    pub(super) fn id(&self) -> String {
        format!("{} -> {}", self.old, self.new)
    }
}

/// A decision about a member, a variant or a type.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// The name under which losses and people speak of it.
    pub id: String,
    /// `Type.member`, `Type|Variant` or `Type`; `*` stands for any type.
    pub at: String,
    /// What happens on the way to the newer revision.
    #[serde(default)]
    pub up: Option<Action>,
    /// What happens on the way to the older one.
    #[serde(default)]
    pub down: Option<Action>,
    /// How much the loss matters, where something is lost.
    #[serde(default)]
    pub loss: Option<Loss>,
    /// The hooks, as `id@place`, without which this would lose more than it says, or stop where it need not.
    #[serde(default)]
    pub with: Vec<String>,
    /// Of a hook: the members whose limits are tighter in the other revision, and that it makes fit.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Why, in our own words.
    pub reason: String,
    /// The page or schema that it rests on.
    pub source: String,
}

/// A decision about a method that only one of the two revisions has.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MethodRule {
    /// The method.
    pub name: String,
    /// Who sends it, where that matters.
    #[serde(default)]
    pub direction: Option<Sender>,
    /// Its name in rule tables.
    pub id: String,
    /// What becomes of it.
    pub action: MethodAction,
    /// The types that its adapter converts although no method of both revisions reaches them.
    #[serde(default)]
    pub with: Vec<String>,
    /// Why, in our own words.
    pub reason: String,
    /// The page that it rests on.
    pub source: String,
}

/// A decision about an error code.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ErrorRule {
    /// The code.
    pub code: i64,
    /// Its name in rule tables and losses.
    pub id: String,
    /// The method that it answers, where it means something else elsewhere.
    #[serde(default)]
    pub method: Option<String>,
    /// What it becomes on the way up.
    #[serde(default)]
    pub up: Option<ErrorFate>,
    /// What it becomes on the way down.
    #[serde(default)]
    pub down: Option<ErrorFate>,
    /// Why, in our own words.
    pub reason: String,
    /// The page that it rests on.
    pub source: String,
}

/// What an error becomes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorFate {
    /// The same error with this code.
    Code(i64),
    /// An adapter has to turn it into something else.
    NeedsState(Adapter),
}

/// Who sends a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What a rule does.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// An optional member is left out, and recorded; carried under the other policy.
    Drop,
    /// A member travels as an unknown one under either policy: the older schema is open, and nothing is lost.
    Pass,
    /// An absent member that must be there is made from an empty one.
    Empty,
    /// Items of a list that this hand-written function refuses are left out, and recorded.
    Filter(String),
    /// A member that must be there gets this value.
    Default(Value),
    /// On the way down a member with this value is left out, and comes back on the way up; another value is lost.
    Implied(Value),
    /// On the way down a member with this value is left out; another one needs the adapter or is rejected.
    Only(Only),
    /// The value comes from what a handshake settled; without that, the handshake adapter has to help.
    Session(SessionFact),
    /// An adapter of the runtime has to do it.
    NeedsState(Adapter),
    /// The error that the spec calls for.
    Reject(Reject),
    /// A hand-written function converts it, of the module of the pair in `mcp_hooks`.
    Custom(String),
    /// A hand-written function changes the value before it is converted.
    Before(String),
    /// A hand-written function changes the value after it was converted.
    After(String),
}

/// What becomes of a method that the other revision lacks.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodAction {
    /// A notification ends here: the peer is not told.
    Drop,
    /// An adapter of the runtime has to do it.
    NeedsState(Adapter),
    /// This error answers it.
    Reject(Reject),
}

/// See [`Action::Only`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Only {
    /// The value that goes without saying.
    pub value: Value,
    /// Values that an adapter takes, and which.
    #[serde(default)]
    pub adapters: BTreeMap<String, Adapter>,
    /// The error for any other.
    pub otherwise: Reject,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
}

/// What a handshake settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionFact {
    /// The version that requests claim.
    ProtocolVersion,
    /// What the client can do.
    ClientCapabilities,
}

/// How much a loss matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// It shows, and no more.
    Cosmetic,
    /// It changes what can be done.
    Semantic,
    /// A person is no longer asked.
    Interaction,
    /// A guard against harm is gone.
    Safety,
}

/// A small state machine of the runtime, that does what no conversion of one value can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", rename_all = "kebab-case")]
pub enum Adapter {
    /// `initialize` on one side, `_meta` of every request on the other.
    Handshake,
    /// Requests of the server on one side, `input_required` results on the other.
    MultiRoundTrip,
    /// A subscription per resource on one side, one stream on the other.
    Subscription,
    /// `logging/setLevel` on one side, a level in `_meta` on the other.
    LogLevel,
    /// Tasks, which the core protocol has in one revision only.
    Tasks,
    /// The id that ties a URL elicitation to its completion.
    UrlElicitationId,
}

impl Adapter {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Handshake,
        Self::MultiRoundTrip,
        Self::Subscription,
        Self::LogLevel,
        Self::Tasks,
        Self::UrlElicitationId,
    ];

    /// The name in rule files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::MultiRoundTrip => "multi-round-trip",
            Self::Subscription => "subscription",
            Self::LogLevel => "log-level",
            Self::Tasks => "tasks",
            Self::UrlElicitationId => "url-elicitation-id",
        }
    }

    /// The name of the variant of `mcp_convert::Adapter`.
    #[must_use]
    pub const fn variant(self) -> &'static str {
        match self {
            Self::Handshake => "Handshake",
            Self::MultiRoundTrip => "MultiRoundTrip",
            Self::Subscription => "Subscription",
            Self::LogLevel => "LogLevel",
            Self::Tasks => "Tasks",
            Self::UrlElicitationId => "UrlElicitationId",
        }
    }
}

impl TryFrom<String> for Adapter {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no adapter `{name}`; known: {names}")
        })
    }
}

impl std::fmt::Display for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Rule {
    /// What it says of one way.
    #[must_use]
    pub fn action(&self, way: Way) -> Option<&Action> {
        way.of(&self.up, &self.down).as_ref()
    }

    /// What it says, of both ways.
    pub(super) fn actions(&self) -> impl Iterator<Item = &Action> {
        Way::BOTH.into_iter().filter_map(|way| self.action(way))
    }
}

impl ErrorRule {
    /// What the code becomes on one way.
    #[must_use]
    pub fn fate(&self, way: Way) -> Option<&ErrorFate> {
        way.of(&self.up, &self.down).as_ref()
    }
}

impl Action {
    /// Whether it changes values before or after they are converted, or leaves out items: what no difference
    /// between two models asks for by itself.
    #[must_use]
    pub fn is_hook(&self) -> bool {
        matches!(self, Self::Before(_) | Self::After(_) | Self::Filter(_))
    }

    /// Whether it says what becomes of a member that the target does not have.
    pub(crate) fn drops(&self) -> bool {
        matches!(
            self,
            Self::Drop
                | Self::Pass
                | Self::Implied(_)
                | Self::Only(_)
                | Self::NeedsState(_)
                | Self::Reject(_)
                | Self::Custom(_)
        )
    }

    /// Whether it says what a member that must be there gets, where the source has none.
    pub(crate) fn fills(&self) -> bool {
        matches!(
            self,
            Self::Default(_)
                | Self::Empty
                | Self::Session(_)
                | Self::Implied(_)
                | Self::Only(_)
                | Self::NeedsState(_)
                | Self::Reject(_)
                | Self::Custom(_)
        )
    }
}
