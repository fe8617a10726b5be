//! `constructors.toml`: what constructors take first, and what they need not be given.

use crate::sorted::SortedMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::{labelled, rows};

/// The name of the file below the spec directory.
pub(super) const FILE: &str = "constructors.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Constructors {
    /// Wire names, what identifies a thing first.
    pub(super) order: Vec<Spanned<String>>,
    /// Words for texts that could be swapped, by wire name.
    pub(super) word: SortedMap<String, Spanned<String>>,
    pub(super) value: Vec<Spanned<ValueRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "ConstructorRow")]
pub(super) struct ValueRule {
    pub(super) at: String,
    pub(super) start: InitialValue,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstructorRow {
    at: String,
    value: Option<Value>,
    is: Option<Stated>,
    since: Option<String>,
    until: Option<String>,
    #[allow(dead_code, reason = "a rule must say why, for people")]
    reason: String,
}

/// A value that differs from revision to revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stated {
    ProtocolVersion,
}

/// The value that a member starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialValue {
    /// This value; `{}` is what the constructor of the member's type makes of nothing.
    Value(Value),
    /// The string that names the revision on the wire.
    ProtocolVersion,
}

impl TryFrom<ConstructorRow> for ValueRule {
    type Error = String;

    fn try_from(row: ConstructorRow) -> Result<Self, String> {
        let ConstructorRow {
            at,
            value,
            is,
            since,
            until,
            ..
        } = row;
        let start = match (value, is) {
            (Some(value), None) => InitialValue::Value(value),
            (None, Some(Stated::ProtocolVersion)) => InitialValue::ProtocolVersion,
            _ => Err(format!(
                "`{at}` starts from either a `value` or what it `is`"
            ))?,
        };
        Ok(Self {
            at,
            start,
            since,
            until,
        })
    }
}

impl Constructors {
    /// Every rule, with where it stands and what it is called in errors.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, String)> {
        labelled(&self.order, |name| format!("order of `{name}`"))
            .chain(labelled(&self.value, ValueRule::label))
            .chain(rows("word of", &self.word))
    }
}
