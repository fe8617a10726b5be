//! `mistakes.toml`: what stands for a mistake of a peer.

use mcp_convert::Severity;
use serde::Deserialize;
use toml::Spanned;

use super::{labelled, matches};
use crate::model::{Model, Shape, TypeDef};
use crate::sorted::SortedSet;

/// The name of the file below the spec directory.
pub(super) const FILE: &str = "mistakes.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct MistakeRules {
    pub(super) mistake: Vec<Spanned<MistakeRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "MistakeToml")]
pub(super) struct MistakeRule {
    at: String,
    fate: MistakeTreatment,
    severity: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MistakeToml {
    at: String,
    value: Option<String>,
    text: Option<String>,
    beside: Option<String>,
    within: Option<String>,
    kind: Option<MistakeValueKind>,
    reads: Option<String>,
    only_but: Option<String>,
    keep: Option<Keep>,
    severity: Option<String>,
    #[allow(dead_code, reason = "a rule must say why, for people")]
    reason: String,
    #[allow(dead_code, reason = "a rule must say what it rests on, for people")]
    source: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Keep {
    All,
    Some,
}

/// The kind of a value that stands for another one, as `mcp_wire::mend::ValueKind` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeValueKind {
    /// An object.
    Object,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
}

/// A mistake in a member, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelMistake {
    /// The Rust names of the types and unions that have the member; empty for all.
    pub of: SortedSet<String>,
    /// The member on the wire; empty for each.
    pub member: String,
    /// The fate of the mistake.
    pub fate: MistakeTreatment,
    /// The severity of a loss of the member, where it is not that of most.
    pub severity: Option<String>,
}

/// The fate of a mistake, as `mcp_wire::mend::MistakeFate` has it; the texts are JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MistakeTreatment {
    /// A value for an absent or unreadable one.
    Value(String),
    /// A value for an absent one beside a member.
    Beside(String, String),
    /// A value for a text.
    Means(String, String),
    /// The member that holds the value.
    Within(String),
    /// A text for a value of a kind, which stands in the place of `_`.
    Reads(MistakeValueKind, String),
    /// The same for an entry.
    EntryReads(MistakeValueKind, String),
    /// The alternative that does not count.
    Only(String),
    /// It stays.
    Kept,
    /// One of its entries stays.
    KeptSome,
}

/// The end of the place of entries of a member.
const ENTRY: &str = "[]";

impl TryFrom<MistakeToml> for MistakeRule {
    type Error = String;

    fn try_from(row: MistakeToml) -> Result<Self, String> {
        let MistakeToml {
            at,
            value,
            text,
            beside,
            within,
            kind,
            reads,
            only_but,
            keep,
            severity,
            ..
        } = row;
        let example = reads.as_ref().map(|reads| reads.replacen('_', "0", 1));
        let json = [&value, &text, &only_but, &example].into_iter().flatten();
        for text in json {
            if let Err(error) = mcp_wire::Json::from_text(text) {
                return Err(format!("`{at}`: {error}"));
            }
        }
        if kind.is_some() != reads.is_some() {
            return Err(format!("`{at}` has `kind` and `reads`, or neither"));
        }
        let others = (within, only_but, keep);
        let fate = match (value, text, beside, kind.zip(reads), others) {
            (Some(value), None, None, None, (None, None, None)) => MistakeTreatment::Value(value),
            (Some(value), Some(text), None, None, (None, None, None)) => {
                MistakeTreatment::Means(text, value)
            }
            (Some(value), None, Some(beside), None, (None, None, None)) => {
                MistakeTreatment::Beside(beside, value)
            }
            (None, None, None, Some((kind, reads)), (None, None, None)) if at.ends_with(ENTRY) => {
                MistakeTreatment::EntryReads(kind, reads)
            }
            (None, None, None, Some((kind, reads)), (None, None, None)) => {
                MistakeTreatment::Reads(kind, reads)
            }
            (None, None, None, None, (Some(name), None, None)) => MistakeTreatment::Within(name),
            (None, None, None, None, (None, Some(but), None)) => MistakeTreatment::Only(but),
            (None, None, None, None, (None, None, Some(Keep::All))) => MistakeTreatment::Kept,
            (None, None, None, None, (None, None, Some(Keep::Some))) => MistakeTreatment::KeptSome,
            _ => {
                return Err(format!(
                    "`{at}` has one of `value` (with `text` or `beside`), `reads` (with `kind`), `within`, `only-but` and `keep`"
                ));
            }
        };
        let is_entry = matches!(fate, MistakeTreatment::EntryReads(..));
        if at.ends_with(ENTRY) && !is_entry {
            return Err(format!(
                "`{at}` has `reads` and `kind`, as each row of entries"
            ));
        }
        let mut known = Severity::ALL.iter().map(|one| one.as_str());
        if severity
            .as_deref()
            .is_some_and(|said| !known.any(|one| one == said))
        {
            return Err(format!("`severity` of `{at}` is none of a loss"));
        }
        Ok(Self { at, fate, severity })
    }
}

impl MistakeRules {
    /// Every rule, with where it stands and what it is called in errors.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, String)> {
        labelled(&self.mistake, |rule| format!("mistake `{}`", rule.at))
    }
}

impl MistakeRule {
    /// Returns what it comes to for some models; `None` if it matches nothing in them.
    pub(super) fn mistake(&self, models: &[&Model]) -> Option<ModelMistake> {
        let (ty, member) = self.place()?;
        let all = models
            .iter()
            .flat_map(|model| model.types.values().map(move |def| (*model, def)));
        let of: SortedSet<String> = match member {
            "*" => all
                .filter(|(_, def)| def.places.iter().any(|place| is_within(place, ty)))
                .map(|(_, def)| def.name.clone())
                .collect(),
            // An alternative is a member of none of the variants.
            _ if matches!(self.fate, MistakeTreatment::Only(_)) => all
                .filter(|(_, def)| {
                    matches!(def.shape, Shape::Union(_))
                        && def.places.iter().any(|place| place == ty)
                })
                .map(|(_, def)| def.name.clone())
                .collect(),
            member => all
                .filter(|(model, def)| has_member(model, def, member) && self.is_of(def))
                .map(|(_, def)| def.name.clone())
                .collect(),
        };
        if of.is_empty() {
            return None;
        }
        // A union may miss the member by which it is decided.
        let unions: SortedSet<String> = models
            .iter()
            .flat_map(|model| model.types.values())
            .filter(|def| match &def.shape {
                Shape::Union(union) => (union.variants.iter())
                    .any(|variant| variant.ty.name().is_some_and(|name| of.contains(name))),
                _ => false,
            })
            .map(|def| def.name.clone())
            .collect();
        Some(ModelMistake {
            of: match ty {
                "*" => SortedSet::new(),
                _ => of.into_iter().chain(unions).collect(),
            },
            member: match member {
                "*" => String::new(),
                member => member.to_owned(),
            },
            fate: self.fate.clone(),
            severity: self.severity.clone(),
        })
    }

    /// Returns the type and the member, which for a row of entries is the list or map.
    fn place(&self) -> Option<(&str, &str)> {
        let at = self.at.strip_suffix(ENTRY).unwrap_or(&self.at);
        at.split_once('.')
    }

    fn is_of(&self, def: &TypeDef) -> bool {
        let (ty, member) = self.place().unwrap_or_default();
        let mut places = def.places.iter();
        let at = format!("{ty}.{member}");
        places.any(|place| matches(&at, &format!("{place}.{member}")))
    }
}

/// Returns whether a place is that of a type, or of an inline schema in it.
fn is_within(place: &str, ty: &str) -> bool {
    let rest = place.strip_prefix(ty);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns whether an object, or a variant of a union, has a member of this name.
fn has_member(model: &Model, def: &TypeDef, member: &str) -> bool {
    match &def.shape {
        Shape::Object(object) => object.member(member).is_some(),
        Shape::Union(union) => union.variants.iter().any(|variant| {
            let object = model.object(&variant.ty);
            object.is_some_and(|object| object.member(member).is_some())
        }),
        _ => false,
    }
}
