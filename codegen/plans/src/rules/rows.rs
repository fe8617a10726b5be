//! The rows of `spec/shims/<old>..<new>.toml`, as they are written.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::example::Example;
use mcp_convert::Adapter;
use mcp_revisions_schema::pair::{MethodSender, StepDirection};
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::{Error, OneOrMany};

/// All rows of a file, with their places in it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RuleTables {
    pub(crate) also: Vec<Spanned<Also>>,
    pub(super) rename: Vec<Spanned<Rename>>,
    pub(super) rule: Vec<Spanned<PairRule>>,
    pub(super) method: Vec<Spanned<MethodRule>>,
    pub(super) error: Vec<Spanned<ErrorRule>>,
}

/// Rows with their byte offsets.
pub(crate) fn placed<T>(rows: &[Spanned<T>]) -> impl Iterator<Item = (usize, &T)> {
    rows.iter().map(|row| (row.span().start, row.get_ref()))
}

/// Returns an error about a row.
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
pub(crate) struct Also {
    pub(crate) r#type: String,
    pub(crate) reason: String,
}

/// Two types that are one, under two names; or two methods, or two members of one type (`Type.member`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rename {
    pub(super) old: String,
    /// A type that was split has several.
    pub(super) new: OneOrMany<String>,
    /// Set if methods are meant, and not types.
    #[serde(default)]
    pub(super) method: bool,
    pub(super) reason: String,
}

impl Rename {
    /// Returns its name in errors.
    pub(super) fn id(&self) -> String {
        format!("{} -> {}", self.old, self.new.all().join(", "))
    }
}

/// A decision about a member, a variant or a type.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PairRule {
    /// The name under which losses and people speak of it.
    pub id: String,
    /// `Type.member`, `Type|Variant` or `Type`, or a list of them; `*` stands for any type.
    pub at: OneOrMany<String>,
    /// The action on the way to the newer revision.
    pub up: Option<Action>,
    /// The action on the way to the older one.
    pub down: Option<Action>,
    /// The severity of the loss, where there is one.
    pub severity: Option<RuleSeverity>,
    /// The severity of a loss without the part that counts: a hook says so, or `trivial` does.
    pub lesser: Option<RuleSeverity>,
    /// The values that are lost with the lesser severity.
    pub trivial: Option<Trivial>,
    /// Set if nothing is lost by it under the policy that carries: a member that is dropped travels as an unknown one
    /// then, and is taken back. Not where an older peer would take it for something else, or where it is not a member.
    #[serde(default = "yes")]
    pub carry: bool,
    /// Examples on values: one at least of each direction that the rule has.
    #[serde(default)]
    pub example: Vec<Example>,
    /// The hooks, as `id@place`, without which this would lose more than it says, or stop where it need not.
    #[serde(default)]
    pub with: Vec<String>,
    /// Of a hook: the members whose limits are tighter in the other revision, and that it makes fit.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Of a list of typed alternatives: its items, in order, and the members of the other revision that they hold.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
    /// Why, in our own words.
    pub reason: String,
    /// The page or schema that it rests on.
    pub source: String,
}

fn yes() -> bool {
    true
}

/// Values whose loss is of a rule's lesser severity.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Trivial {
    /// These.
    pub values: Vec<Value>,
    /// Objects that have no other members than these.
    pub members: Option<Vec<String>>,
}

/// An item of a list of typed alternatives: one type of a union, and the member of the other revision whose value it holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The Rust name of its type, an object that a variant of the union holds.
    pub r#type: String,
    /// The member of that type that holds the value; `None` for an item that stands in every list.
    pub value: Option<String>,
    /// The member of the other revision that has the value.
    pub member: Option<String>,
    /// The value of that member where the list has no such item; for a member that must be there.
    pub absent: Option<Value>,
}

/// A decision about methods that only one of the two revisions has, or that mean something else in the other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MethodRule {
    /// The method, or a list of them.
    pub name: OneOrMany<String>,
    /// The sender, where that matters.
    pub sender: Option<MethodSender>,
    /// Its name in rule tables.
    pub id: String,
    /// The fate in either direction, where only one revision has it.
    pub action: Option<MethodAction>,
    /// The fate on the way up, where both have it.
    pub up: Option<MethodAction>,
    /// The fate on the way down, where both have it.
    pub down: Option<MethodAction>,
    /// Examples on values.
    #[serde(default)]
    pub example: Vec<Example>,
    /// The types that its adapter converts although no method of both revisions reaches them.
    #[serde(default)]
    pub with: Vec<String>,
    /// Why, in our own words.
    pub reason: String,
    /// The page that it rests on.
    pub source: String,
}

/// A decision about an error code.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ErrorRule {
    /// The code, a range of them (the lowest and the highest), or any.
    pub code: CodeRange,
    /// Its name in rule tables and losses.
    pub id: String,
    /// The methods that it answers, where it means something else elsewhere.
    pub method: Option<OneOrMany<String>>,
    /// The member that its data has, where it means something else without it.
    pub data: Option<String>,
    /// Examples on values.
    #[serde(default)]
    pub example: Vec<Example>,
    /// The error on the way up.
    pub up: Option<ErrorRuleFate>,
    /// The error on the way down.
    pub down: Option<ErrorRuleFate>,
    /// Why, in our own words.
    pub reason: String,
    /// The page that it rests on.
    pub source: String,
}

/// The codes that a rule speaks of: `-32002`, `[-32099, -32020]` or `"any"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawCodes")]
pub struct CodeRange {
    /// The lowest.
    pub from: i64,
    /// The highest.
    pub to: i64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawCodes {
    One(i64),
    Range([i64; 2]),
    Word(String),
}

impl CodeRange {
    const ANY: Self = Self {
        from: i64::MIN,
        to: i64::MAX,
    };

    /// Creates a range of one code.
    pub const fn one(code: i64) -> Self {
        Self {
            from: code,
            to: code,
        }
    }

    /// Returns whether a code is among them.
    pub fn contains(&self, code: i64) -> bool {
        (self.from..=self.to).contains(&code)
    }

    /// Returns the code, if it is one.
    pub fn single(&self) -> Option<i64> {
        (self.from == self.to).then_some(self.from)
    }
}

impl TryFrom<RawCodes> for CodeRange {
    type Error = String;

    fn try_from(raw: RawCodes) -> Result<Self, String> {
        match raw {
            RawCodes::One(code) => Ok(Self::one(code)),
            RawCodes::Range([from, to]) if from < to => Ok(Self { from, to }),
            RawCodes::Range([from, to]) => Err(format!(
                "a range of codes goes from the lowest to the highest, not from {from} to {to}"
            )),
            RawCodes::Word(word) if word == "any" => Ok(Self::ANY),
            RawCodes::Word(word) => Err(format!(
                "a code is a number, a range `[LOWEST, HIGHEST]` or `\"any\"`, not `{word}`"
            )),
        }
    }
}

impl std::fmt::Display for CodeRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            &Self::ANY => f.pad("any"),
            Self { from, to } if from == to => write!(f, "{from}"),
            Self { from, to } => write!(f, "{from} to {to}"),
        }
    }
}

/// The fate of an error.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorRuleFate {
    /// The same error with this code.
    Code(i64),
    /// An adapter has to turn it into something else.
    RequiresState(Adapter),
}

/// The action of a rule.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// An optional member is left out, and recorded; carried under the other policy.
    Drop,
    /// A member is left out, and not lost: the older revision says it once for a session, in its handshake.
    InSession,
    /// A member travels as an unknown one under either policy: the older schema is open, and nothing is lost.
    Pass,
    /// A member that the source does not name is taken out of its unknown ones: it says the same there.
    Adopt,
    /// Without the member, which the target must have, a notification ends here.
    Swallow,
    /// An absent member that must be there is made from an empty one.
    Empty,
    /// Items of a list that this hand-written function refuses are left out, and recorded.
    Filter(String),
    /// A member that must be there gets this value.
    Default(Value),
    /// On the way down a member with this value is left out, and comes back on the way up; another value is lost.
    Implied(Value),
    /// On the way down a member with this value is left out; another one is rejected.
    Only(Only),
    /// The value comes from what a session knows; without that an optional member is absent, and for one that must be
    /// there the handshake adapter has to help.
    Session(SessionFact),
    /// An adapter of the runtime has to do it.
    RequiresState(Adapter),
    /// The error that the spec calls for.
    Reject(Reject),
    /// A member of one side is an entry of a map on the other, under a name.
    Entry(MapEntry),
    /// Members that the target does not have become the items of a list that the source does not have.
    Gather,
    /// The items of a list that the target does not have become members that the source does not have.
    Spread,
    /// A hand-written function converts it, of the module of the pair in `mcp_hooks`; a `?` behind its name says that it
    /// may stop, as it does for the next two.
    Custom(String),
    /// A hand-written function changes the value before it is converted.
    Before(String),
    /// A hand-written function changes the value after it was converted.
    After(String),
}

/// See [`Action::Entry`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MapEntry {
    /// The member that is the map, on both sides.
    pub of: String,
    /// The name of the entry.
    pub name: String,
}

/// The fate of a method that the other revision lacks, or understands otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodAction {
    /// A notification ends here: the peer does not get it.
    Drop,
    /// An adapter of the runtime has to do it.
    RequiresState(Adapter),
    /// The subscription adapter has to do it, unless the session says for which stream it is.
    Subscribed,
    /// This error answers it.
    Reject(Reject),
}

/// See [`Action::Only`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Only {
    /// The value that an absent member stands for.
    pub value: Value,
    /// Other values that the newer revision itself has, for those places that may hold them.
    #[serde(default)]
    pub known: Vec<String>,
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

/// A fact that a handshake settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionFact {
    /// The capabilities of the client.
    ClientCapabilities,
    /// The name and version of the client.
    ClientInfo,
    /// For which stream a notification is.
    SubscriptionId,
}

/// The severity of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSeverity {
    /// It shows, and no more.
    Cosmetic,
    /// It changes what can be done.
    Semantic,
    /// A person is no longer asked.
    Interaction,
    /// A guard against harm is gone.
    Safety,
}

impl PairRule {
    /// Returns its action for one way.
    pub fn action(&self, way: StepDirection) -> Option<&Action> {
        way.of(&self.up, &self.down).as_ref()
    }

    /// Returns its actions, of both directions.
    pub(super) fn actions(&self) -> impl Iterator<Item = &Action> {
        StepDirection::BOTH
            .into_iter()
            .filter_map(|way| self.action(way))
    }
}

impl MethodRule {
    /// Returns its action for one way.
    pub fn action(&self, way: StepDirection) -> Option<&MethodAction> {
        let of_way = way.of(&self.up, &self.down);
        self.action.as_ref().or(of_way.as_ref())
    }
}

impl ErrorRule {
    /// Returns the fate of the code in one direction.
    pub fn fate(&self, way: StepDirection) -> Option<&ErrorRuleFate> {
        way.of(&self.up, &self.down).as_ref()
    }
}

impl Action {
    /// Returns whether it changes values before or after they are converted, or leaves out items: what no difference
    /// between two models asks for by itself.
    pub fn is_hook(&self) -> bool {
        matches!(self, Self::Before(_) | Self::After(_) | Self::Filter(_))
    }

    /// Returns the hand-written function that it names, without the `?` of one that may stop.
    pub(super) fn function(&self) -> Option<&str> {
        match self {
            Self::Filter(path) => Some(path),
            Self::Custom(path) | Self::Before(path) | Self::After(path) => {
                Some(path.strip_suffix('?').unwrap_or(path))
            }
            _ => None,
        }
    }

    /// Returns whether it says what becomes of a member that the target does not have.
    pub(crate) fn drops(&self) -> bool {
        self.does()[0]
    }

    /// Returns whether it says what a member that must be there gets, where the source has none.
    pub(crate) fn fills(&self) -> bool {
        self.does()[1]
    }

    /// Returns whether a conversion ends by it.
    pub fn stops(&self) -> bool {
        self.does()[2]
    }

    /// Returns whether it drops, fills and stops.
    fn does(&self) -> [bool; 3] {
        match self {
            Self::Drop | Self::InSession | Self::Pass => [true, false, false],
            Self::Implied(_) | Self::Only(_) | Self::Custom(_) => [true, true, false],
            Self::RequiresState(_) | Self::Reject(_) => [true, true, true],
            Self::Default(_) | Self::Empty | Self::Session(_) => [false, true, false],
            Self::Swallow => [false, true, true],
            Self::Adopt
            | Self::Entry(_)
            | Self::Gather
            | Self::Spread
            | Self::Filter(_)
            | Self::Before(_)
            | Self::After(_) => [false; 3],
        }
    }
}
