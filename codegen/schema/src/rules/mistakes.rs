//! `mistakes.toml`: what stands for a mistake of a peer.

use mcp_convert::Severity;
use serde::Deserialize;
use toml::Spanned;

use super::{labelled, matches};
use crate::model::{Model, Shape, TypeDef};
use crate::one_or_many::OneOrMany;
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
    at: OneOrMany<String>,
    fate: MistakeTreatment,
    severity: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MistakeToml {
    at: OneOrMany<String>,
    value: Option<String>,
    absent: Option<String>,
    among: Option<String>,
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
    /// `false`.
    False,
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
    /// A value for an absent one only.
    Absent(String),
    /// A value that stands for a list that has it among others.
    Among(String),
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
        let at = row.at.all().join(", ");
        let example = row.reads.as_ref().map(|reads| reads.replacen('_', "0", 1));
        let values = [
            &row.value,
            &row.absent,
            &row.among,
            &row.text,
            &row.only_but,
        ];
        for text in values.into_iter().flatten().chain(&example) {
            if let Err(error) = mcp_wire::Json::from_text(text) {
                return Err(format!("`{at}`: {error}"));
            }
        }
        let texts = [
            ("absent", row.absent),
            ("among", row.among),
            ("beside", row.beside),
            ("only-but", row.only_but),
            ("reads", row.reads),
            ("text", row.text),
            ("value", row.value),
            ("within", row.within),
        ];
        let given = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key, text?)));
        let texts: Vec<(&str, String)> = given.collect();
        let entries = row.at.all().iter().filter(|at| at.ends_with(ENTRY)).count();
        let is_entry = entries == row.at.all().len();
        if entries > 0 && !(is_entry && row.kind.is_some()) {
            return Err(format!(
                "`{at}` has `reads` and `kind`, as each row of entries"
            ));
        }
        let text = |at: usize| texts[at].1.clone();
        let keys: Vec<&str> = texts.iter().map(|(key, _)| *key).collect();
        let fate = match (&keys[..], row.kind, row.keep) {
            (["value"], None, None) => MistakeTreatment::Value(text(0)),
            (["absent"], None, None) => MistakeTreatment::Absent(text(0)),
            (["among"], None, None) => MistakeTreatment::Among(text(0)),
            (["text", "value"], None, None) => MistakeTreatment::Means(text(0), text(1)),
            (["beside", "value"], None, None) => MistakeTreatment::Beside(text(0), text(1)),
            (["reads"], Some(kind), None) if is_entry => {
                MistakeTreatment::EntryReads(kind, text(0))
            }
            (["reads"], Some(kind), None) => MistakeTreatment::Reads(kind, text(0)),
            (["within"], None, None) => MistakeTreatment::Within(text(0)),
            (["only-but"], None, None) => MistakeTreatment::Only(text(0)),
            ([], None, Some(Keep::All)) => MistakeTreatment::Kept,
            ([], None, Some(Keep::Some)) => MistakeTreatment::KeptSome,
            _ => {
                return Err(format!(
                    "`{at}` has one of `value` (with `text` or `beside`), `absent`, `among`, `reads` (with `kind`), `within`, `only-but` and `keep`"
                ));
            }
        };
        let mut known = Severity::ALL.iter().map(|one| one.as_str());
        let said = row.severity.as_deref();
        if said.is_some_and(|said| !known.any(|one| one == said)) {
            return Err(format!("`severity` of `{at}` is none of a loss"));
        }
        Ok(Self {
            at: row.at,
            fate,
            severity: row.severity,
        })
    }
}

impl MistakeRules {
    /// Every rule, with where it stands and what it is called in errors.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, String)> {
        labelled(&self.mistake, |rule| {
            format!("mistake `{}`", rule.at.all().join(", "))
        })
    }
}

impl MistakeRule {
    /// Returns the mistakes of its places in some models; `None` if a place matches nothing in them.
    pub(super) fn mistakes(&self, models: &[&Model]) -> Option<Vec<ModelMistake>> {
        let places = self.at.all().iter();
        places.map(|at| self.mistake(at, models)).collect()
    }

    fn mistake(&self, at: &str, models: &[&Model]) -> Option<ModelMistake> {
        // For a row of entries it is the place of the list or map.
        let place = at.strip_suffix(ENTRY).unwrap_or(at);
        let (ty, member) = place.rsplit_once('.')?;
        let mistake = |of: SortedSet<String>, member: &str| ModelMistake {
            of,
            member: member.to_owned(),
            fate: self.fate.clone(),
            severity: self.severity.clone(),
        };
        let is_framed = |model: &&Model| has_framed_member(model, ty, member);
        if models.iter().any(is_framed) {
            return Some(mistake(SortedSet::from_iter([ty.to_owned()]), member));
        }
        let all = models
            .iter()
            .flat_map(|model| model.types.values().map(move |def| (*model, def)));
        let is_meant = |model: &Model, def: &TypeDef| match member {
            "*" => def.places.iter().any(|place| is_within(place, ty)),
            // An alternative is a member of none of the variants.
            _ if matches!(self.fate, MistakeTreatment::Only(_)) => {
                matches!(def.shape, Shape::Union(_)) && def.places.iter().any(|place| place == ty)
            }
            member => {
                let is_of_it = ty == "*" || def.places.iter().any(|place| matches(ty, place));
                is_of_it && has_member(model, def, member)
            }
        };
        let meant = all.clone().filter(|(model, def)| is_meant(model, def));
        let of: SortedSet<String> = meant.map(|(_, def)| def.name.clone()).collect();
        if of.is_empty() {
            return None;
        }
        // A union may miss the member by which it is decided.
        let has_one = |def: &TypeDef| match &def.shape {
            Shape::Union(union) => (union.variants.iter())
                .any(|variant| variant.ty.name().is_some_and(|name| of.contains(name))),
            _ => false,
        };
        let holders = all.filter(|(_, def)| has_one(def));
        let unions: SortedSet<String> = holders.map(|(_, def)| def.name.clone()).collect();
        let of = match ty {
            "*" => SortedSet::new(),
            _ => of.into_iter().chain(unions).collect(),
        };
        Some(mistake(of, if member == "*" { "" } else { member }))
    }
}

/// Returns whether a value that some type keeps as text is an object of this name with this member.
fn has_framed_member(model: &Model, of: &str, member: &str) -> bool {
    let objects = model
        .types
        .values()
        .filter_map(|def| Some((def, def.shape.object()?)));
    let mut members =
        objects.flat_map(|(def, object)| object.members.iter().map(move |member| (def, member)));
    members.any(|(def, one)| {
        let name = || format!("{}.{}", def.places[0], one.wire);
        (one.frame.as_ref()).is_some_and(|frame| frame.has_member(&name(), of, member))
    })
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
