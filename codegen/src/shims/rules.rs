//! The decisions of one pair of revisions, from `spec/shims/<old>..<new>.toml`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use crate::Error;
use crate::spec::rules::RuleFile;

/// The rules of a pair.
#[derive(Debug, Default)]
pub struct PairRules {
    file: RuleFile,
    rows: Rows,
    /// Byte offset and direction of rules that were of use.
    used: RefCell<BTreeSet<(usize, bool)>>,
    /// Byte offset of hooks, and the members that they were found to make fit.
    fitted: RefCell<BTreeSet<(usize, String)>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Rows {
    also: Vec<Spanned<Also>>,
    rename: Vec<Spanned<Rename>>,
    rule: Vec<Spanned<Rule>>,
    method: Vec<Spanned<MethodRule>>,
    error: Vec<Spanned<ErrorRule>>,
}

/// A type that no method of both revisions reaches, and that an adapter of the runtime converts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Also {
    r#type: String,
    reason: String,
}

/// Two types that are one, under two names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    old: String,
    new: String,
    reason: String,
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
    pub action: Action,
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
    NeedsState(String),
}

/// Who sends a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
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
    NeedsState(String),
    /// The error that the spec calls for.
    Reject(Reject),
    /// A hand-written function converts it, of the module of the pair in `mcp_hooks`.
    Custom(String),
    /// A hand-written function changes the value before it is converted.
    Before(String),
    /// A hand-written function changes the value after it was converted.
    After(String),
}

/// See [`Action::Only`].
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Only {
    /// The value that goes without saying.
    pub value: Value,
    /// Values that an adapter takes, and which.
    #[serde(default)]
    pub adapters: std::collections::BTreeMap<String, String>,
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

/// The adapters of the runtime, by their name in rule files and in `mcp_convert`.
pub const ADAPTERS: &[(&str, &str)] = &[
    ("handshake", "Handshake"),
    ("multi-round-trip", "MultiRoundTrip"),
    ("subscription", "Subscription"),
    ("log-level", "LogLevel"),
    ("tasks", "Tasks"),
    ("url-elicitation-id", "UrlElicitationId"),
];

impl PairRules {
    /// Reads the rules of a pair; an absent file has none.
    ///
    /// # Errors
    /// [`Error::Toml`] with its line, and rules that contradict themselves.
    pub fn read(file: RuleFile) -> Result<Self, Error> {
        let rows: Rows = file.parse()?;
        let rules = Self {
            file,
            rows,
            used: RefCell::default(),
            fitted: RefCell::default(),
        };
        Error::check(super::sound::faults(&rules))?;
        Ok(rules)
    }

    pub(super) fn error(&self, offset: usize, id: &str, problem: &str, reason: &str) -> Error {
        self.file
            .error(offset, format!("rule `{id}`"), problem, reason, "")
    }

    /// The path of the file, for errors that say where a rule belongs.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// Types that are converted although no method of both revisions reaches them.
    pub(super) fn also(&self) -> impl Iterator<Item = (usize, &str)> {
        self.rows
            .also
            .iter()
            .map(|row| (row.span().start, row.get_ref().r#type.as_str()))
    }

    /// An error about a row of `also`.
    pub(super) fn also_error(&self, offset: usize, problem: &str) -> Error {
        let row = self
            .rows
            .also
            .iter()
            .find(|row| row.span().start == offset)
            .map(Spanned::get_ref);
        let (name, reason) = row.map_or(("", ""), |row| (row.r#type.as_str(), row.reason.as_str()));
        self.error(offset, name, problem, reason)
    }

    /// All rules about members, variants and types, with their place in the file.
    pub(super) fn placed(&self) -> impl Iterator<Item = (usize, &Rule)> {
        self.rows
            .rule
            .iter()
            .map(|row| (row.span().start, row.get_ref()))
    }

    /// All rules about methods, with their place in the file.
    pub(super) fn placed_methods(&self) -> impl Iterator<Item = (usize, &MethodRule)> {
        self.rows
            .method
            .iter()
            .map(|row| (row.span().start, row.get_ref()))
    }

    /// Whether a hook of a type says that it makes a member fit into tighter limits.
    pub(super) fn fits(&self, owner: &str, member: &str, up: bool) -> bool {
        let mut found = false;
        for (offset, rule) in self.placed() {
            let action = if up {
                rule.up.as_ref()
            } else {
                rule.down.as_ref()
            };
            let hook = action.is_some_and(Action::is_hook);
            if hook
                && matches(&rule.at, owner)
                && rule.covers.iter().any(|covered| covered == member)
            {
                self.fitted.borrow_mut().insert((offset, member.to_owned()));
                found = true;
            }
        }
        found
    }

    /// The row about an error code, if the code differs between the two revisions.
    pub(super) fn error_row(&self, code: i64) -> Option<&ErrorRule> {
        let row = self
            .rows
            .error
            .iter()
            .find(|row| row.get_ref().code == code)?;
        self.used.borrow_mut().insert((row.span().start, true));
        Some(row.get_ref())
    }

    /// Whether two types of different names are one, by a rule.
    pub(super) fn renamed(&self, from: &str, to: &str, up: bool) -> bool {
        let (wanted_old, wanted_new) = if up { (from, to) } else { (to, from) };
        let row = self.rows.rename.iter().find(|row| {
            let Rename { old, new, .. } = row.get_ref();
            wanted_old == old && wanted_new == new
        });
        if let Some(row) = row {
            self.used.borrow_mut().insert((row.span().start, true));
        }
        row.is_some()
    }

    /// The decision about a place in one direction.
    pub(super) fn decision(&self, place: &str, up: bool) -> Option<(&Rule, &Action)> {
        self.decisions(place.to_owned(), up).next()
    }

    /// The decision about a place where there may be no need of one: it counts as used once [`Self::uses`] says so.
    pub(super) fn offer(&self, place: &str, up: bool) -> Option<(usize, &Rule, &Action)> {
        self.placed().find_map(|(offset, rule)| {
            let action = if up {
                rule.up.as_ref()
            } else {
                rule.down.as_ref()
            }?;
            matches(&rule.at, place).then_some((offset, rule, action))
        })
    }

    /// An offered decision was needed.
    pub(super) fn uses(&self, offset: usize, up: bool) {
        self.used.borrow_mut().insert((offset, up));
    }

    /// All decisions about a place: a type may have something done before and after.
    pub(super) fn decisions(
        &self,
        place: String,
        up: bool,
    ) -> impl Iterator<Item = (&Rule, &Action)> {
        self.rows.rule.iter().filter_map(move |row| {
            let rule = row.get_ref();
            let action = if up {
                rule.up.as_ref()
            } else {
                rule.down.as_ref()
            }?;
            if !matches(&rule.at, &place) {
                return None;
            }
            self.used.borrow_mut().insert((row.span().start, up));
            Some((rule, action))
        })
    }

    /// The decision about a method that the other revision lacks.
    pub(super) fn method(&self, name: &str, sender: Sender) -> Option<&MethodRule> {
        let row = self.rows.method.iter().find(|row| {
            let rule = row.get_ref();
            rule.name == name && rule.direction.is_none_or(|direction| direction == sender)
        })?;
        self.used.borrow_mut().insert((row.span().start, true));
        Some(row.get_ref())
    }

    /// All rules, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rows.rule.iter().map(Spanned::get_ref)
    }

    /// All rules about error codes.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorRule> {
        self.rows.error.iter().map(Spanned::get_ref)
    }

    /// All rules about methods.
    pub fn methods(&self) -> impl Iterator<Item = &MethodRule> {
        self.rows.method.iter().map(Spanned::get_ref)
    }

    /// Rules that nothing needed, or only in one of the directions that they speak of.
    #[must_use]
    pub fn unused(&self) -> Vec<Error> {
        let used = self.used.borrow();
        let mut errors = super::sound::idle(self);
        let help = "it matches nothing that changed";
        for row in &self.rows.rename {
            if !used.contains(&(row.span().start, true)) {
                let Rename { old, new, reason } = row.get_ref();
                errors.push(self.error(row.span().start, &format!("{old} -> {new}"), help, reason));
            }
        }
        for row in &self.rows.rule {
            let rule = row.get_ref();
            for (action, up, way) in [(&rule.up, true, "up"), (&rule.down, false, "down")] {
                if action.is_some() && !used.contains(&(row.span().start, up)) {
                    let problem = format!("{help} on the way {way}");
                    errors.push(self.error(row.span().start, &rule.id, &problem, &rule.reason));
                }
            }
            for member in &rule.covers {
                if !self
                    .fitted
                    .borrow()
                    .contains(&(row.span().start, member.clone()))
                {
                    let problem = format!(
                        "it covers `{member}`, whose limits are no tighter in the other revision"
                    );
                    errors.push(self.error(row.span().start, &rule.id, &problem, &rule.reason));
                }
            }
        }
        for row in &self.rows.error {
            if !used.contains(&(row.span().start, true)) {
                let rule = row.get_ref();
                let problem = "both revisions have the code, or neither (spec/errors.toml)";
                errors.push(self.error(row.span().start, &rule.id, problem, &rule.reason));
            }
        }
        for row in &self.rows.method {
            if !used.contains(&(row.span().start, true)) {
                let rule = row.get_ref();
                errors.push(self.error(row.span().start, &rule.id, help, &rule.reason));
            }
        }
        errors
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
    pub(super) fn drops(&self) -> bool {
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
    pub(super) fn fills(&self) -> bool {
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

    pub(super) fn unknown_adapter(&self) -> Option<&str> {
        let named: Vec<&str> = match self {
            Self::NeedsState(name) => vec![name],
            Self::Only(only) => only.adapters.values().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        named
            .into_iter()
            .find(|name| !ADAPTERS.iter().any(|(known, _)| known == name))
    }
}

/// A place, or `*` and the rest of one.
fn matches(pattern: &str, place: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(rest) => place.ends_with(rest) && place.len() > rest.len(),
        None => pattern == place,
    }
}
