//! One change, with everything that is known of it. Data: what is printed, published and planned from.

use serde::Serialize;
use serde_json::Value;

use super::graph::GraphRest;
use super::kind::ChangeKind;
use super::path::{ExchangePart, WirePath};
use super::show::View;
use super::site::DiffLocation;
use super::verdict::{ChangeLevel, ComparedEnd, CrateChange, DirectionVerdict, Verdicts};
use mcp_revisions_schema::pair::MethodSender;
use mcp_revisions_schema::schema::{Constraints, applied, decimal};
use mcp_revisions_schema::spec::changes::RefusingTransport;
use mcp_revisions_schema::spec::sha256;

/// A text that is valid in one revision and not in the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Witness {
    /// The side whose sender may send it.
    pub valid_in: ComparedEnd,
    /// The kind of the text: a message, a result or an error.
    pub part: ExchangePart,
    /// The method that it is of; `*` for what every message has.
    pub method: String,
    /// The text.
    pub json: Value,
    /// The parts of the old schema that constrain the place, as JSON pointers; one of them has to hold, none admits nothing.
    pub old: Vec<String>,
    /// The same of the new schema.
    pub new: Vec<String>,
}

/// Stands for a rule where the planner of conversions proved that nothing can go wrong.
pub const PROVEN: &str = "proven";

/// A change between two revisions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffRow {
    /// 12 hex digits that stay the same as long as the change does.
    pub fingerprint: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The gravity of the change.
    pub level: ChangeLevel,
    /// All wire paths that it reaches, sorted; empty for what is on no wire path.
    pub paths: Vec<WirePath>,
    /// For what moved: where it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<WirePath>,
    /// For what moved: where it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<WirePath>,
    /// For what moved: whether it changed inside as well, which other rows tell.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_within: bool,
    /// The parts of the two schemas that state it: `Tool`, or `Tool.annotations` for an inline schema.
    pub places: Vec<DiffLocation>,
    /// The member, value, limit, code, header or rule that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// For a member that went or came: the one that came or went there and may be the same.
    #[serde(rename = "perhaps_renamed", skip_serializing_if = "Option::is_none")]
    pub(crate) other_name: Option<String>,
    /// The error codes that it is about.
    #[serde(skip)]
    pub codes: Vec<i64>,
    /// The old value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<View>,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<View>,
    /// The fate of messages that cross the change.
    pub verdicts: Verdicts,
    /// For each direction that is not valid, a text that shows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<Witness>,
    /// The consequence for users of the generated crate.
    pub crate_change: CrateChange,
    /// The conversion rules that it meets, step by step; empty until one does.
    pub rules: Vec<MetRule>,
    /// Why its level is not the one that follows from the verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_reason: Option<String>,
    /// The theme of a rule that binds peers and that no path tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The page of the specification that says so, where the schema does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// The conversion rules that a change meets between two adjacent revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetRule {
    /// The adjacent revisions: `2025-06-18..2025-11-25`.
    pub step: String,
    /// Ids of rules, sorted; or `proven`, or what the runtime does.
    pub rules: Vec<String>,
}

/// A change of the specification's prose between adjacent revisions that no schema shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prose {
    /// The adjacent revisions: `2025-06-18..2025-11-25`.
    pub step: String,
    /// The name under which people speak of it.
    pub id: String,
    /// The peer that it binds; `None` if it binds both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binds: Option<MethodSender>,
    /// The transport that it is about; `None` if it is about any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<RefusingTransport>,
    /// The rule of the newer revision, or the one that it dropped.
    pub says: String,
    /// The page that says so.
    pub page: String,
}

impl DiffRow {
    /// Returns a row that says nothing yet but what happened.
    pub(crate) fn new(kind: ChangeKind) -> Self {
        let verdicts = kind.verdicts();
        Self {
            fingerprint: String::new(),
            kind,
            level: kind.level(verdicts),
            paths: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            changed_within: false,
            places: Vec::new(),
            subject: None,
            other_name: None,
            codes: Vec::new(),
            before: None,
            after: None,
            verdicts,
            witnesses: Vec::new(),
            crate_change: kind.crate_change(),
            rules: Vec::new(),
            level_reason: None,
            about: None,
            page: None,
        }
    }

    /// Takes over other verdicts than those of its kind.
    pub(crate) fn judged(&mut self, verdicts: Verdicts) {
        self.verdicts = verdicts;
        self.level = self.kind.level(verdicts);
    }

    /// Takes over witnesses: a direction that has one is refused, and no other is.
    pub(crate) fn with_witnesses(mut self, witnesses: Vec<Witness>) -> Self {
        let mut verdicts = self.verdicts;
        for witness in &witnesses {
            match witness.valid_in {
                ComparedEnd::Old => verdicts.old_to_new = DirectionVerdict::REFUSED,
                ComparedEnd::New => verdicts.new_to_old = DirectionVerdict::REFUSED,
            }
        }
        self.witnesses = witnesses;
        self.judged(verdicts);
        self
    }

    /// Gives the row its id; `facet` is what tells it from other changes at the same path.
    pub(crate) fn sign(&mut self, facet: &str) {
        let path = self
            .paths
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        let text = format!("{}\n{path}\n{facet}", self.kind.id());
        self.fingerprint = sha256(text.as_bytes()).chars().take(12).collect();
    }
}

/// Returns the verdicts of what may stand beside named members, as long as no witness says otherwise: what is not open may
/// refuse what the other side lets stand there.
pub(crate) fn of_rest(before: Option<GraphRest>, after: Option<GraphRest>) -> Verdicts {
    let verdict = |sender, receiver| match (sender, receiver) {
        (Some(GraphRest::Closed), _) | (_, Some(GraphRest::Open)) => DirectionVerdict::FINE,
        _ => DirectionVerdict::CHANGED,
    };
    Verdicts::of(verdict(before, after), verdict(after, before))
}

/// Returns the verdicts of a limit that changed, as long as no witness says otherwise.
///
/// A hint such as `default` changes what absence means; a limit can refuse what it did not refuse before, and an
/// unknown keyword can refuse anything. Only a witness proves a refusal.
pub(crate) fn of_limit(name: &str, before: Option<&Value>, after: Option<&Value>) -> Verdicts {
    let [up, down] = match name {
        "default" => [true; 2],
        "format" => [before.is_some() && after.is_some(); 2],
        hint if applied::is_hint(hint) => [false; 2],
        name if !applied::is_understood(name) || applied::loosens(name) => [true; 2],
        name => [
            refuses_more(name, before, after),
            refuses_more(name, after, before),
        ],
    };
    let verdict = |changed: bool| {
        if changed {
            DirectionVerdict::CHANGED
        } else {
            DirectionVerdict::FINE
        }
    };
    Verdicts::of(verdict(up), verdict(down))
}

/// Returns whether a limit may refuse what the one before it admits.
pub(crate) fn refuses_more(name: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    match (before, after) {
        // All multiples of a multiple are multiples.
        (Some(before), Some(after)) if name == "multipleOf" => {
            decimal::is_multiple(before, after) != Some(true)
        }
        (Some(before), Some(after)) => Constraints::is_tighter(name, before, after).unwrap_or(true),
        _ => after.is_some(),
    }
}
