//! Where the generated crates and the schemas disagree on purpose: the whole list, each entry with its reason.
//!
//! `tests/it/rejection.rs` fails on a disagreement that no entry covers, and on an entry that covers none.

use mcp_revisions_schema::model::{Model, Presence, Shape, Ty, UnionPlan};
use mcp_wire::{Error, ErrorKind};

use crate::breaks::{Break, Harm, Within};
use crate::judge::Judge;
use crate::tree::{Kind, Member, Node, Standing, Style, Value, pointer};

/// How a crate and its schema disagree about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The schema refuses the text, the crate takes it.
    Lenient,
    /// The schema allows the text, the crate refuses it.
    Strict,
    /// Both refuse the text, but the crate does not point at the place that was broken.
    Elsewhere,
    /// Both take the text, but the crate writes another one.
    Rewritten,
}

/// A disagreement.
#[derive(Debug)]
pub struct Case<'c> {
    /// How they disagree.
    pub verdict: Verdict,
    /// What was broken.
    pub of: &'c Break,
    /// The broken value.
    pub broken: &'c Node,
    /// What the crate said, if it refused.
    pub error: Option<&'c Error>,
    /// The model of the revision.
    pub model: &'c Model,
    /// The schemas of the revision.
    pub judge: &'c Judge,
}

/// An entry of the list.
#[derive(Debug)]
pub struct Leniency {
    /// Its name.
    pub id: &'static str,
    /// How the two disagree.
    pub verdict: Verdict,
    /// Why that is right.
    pub reason: &'static str,
    /// Whether it covers a case.
    pub covers: fn(&Case<'_>) -> bool,
}

/// Every deliberate disagreement.
pub static ALL: &[Leniency] = &[
    Leniency {
        id: "null-is-absent",
        verdict: Verdict::Lenient,
        reason: "many writers send null for a member that they leave out; nothing in the protocol gives it another meaning",
        covers: is_null_for_optional,
    },
    Leniency {
        id: "null-is-dropped",
        verdict: Verdict::Rewritten,
        reason: "null for an optional member is its absence, and so not written; the schema allows the null only because \
                 another variant of a union does not know the member",
        covers: is_null_for_optional,
    },
    Leniency {
        id: "limits-are-documented",
        verdict: Verdict::Lenient,
        reason: "minimum, maximum, maxItems and format are for the writer: a reader that enforces them turns a cosmetic \
                 mistake of the peer into a lost message",
        covers: |case| matches!(case.of.harm, Harm::Limit(_)),
    },
    Leniency {
        id: "schemas-are-text",
        verdict: Verdict::Lenient,
        reason: "inputSchema and outputSchema are the author's own text, kept verbatim (spec/shapes.toml); whoever \
                 compiles the schema finds out what is wrong with it",
        covers: |case| matches!(case.of.harm, Harm::SchemaText(_)),
    },
    Leniency {
        id: "unknown-methods-are-kept",
        verdict: Verdict::Lenient,
        reason: "a method of an extension or of a later revision is a case of its own, so that it can be answered or passed on",
        covers: is_unknown_method,
    },
    Leniency {
        id: "results-alone-are-bare",
        verdict: Verdict::Lenient,
        reason: "ClientResult and ServerResult are read without the request that they answer, and so as the bare result, \
                 whose _meta is optional even where that of the answer is not",
        covers: is_bare_result,
    },
    Leniency {
        id: "members-come-once",
        verdict: Verdict::Strict,
        reason: "readers disagree about which of two members counts, and that is how filters are tricked; a schema cannot \
                 say so, as it sees the value after one of them has won",
        covers: |case| {
            let duplicate = case
                .error
                .is_some_and(|error| error.kind() == ErrorKind::Duplicate);
            matches!(case.of.harm, Harm::Repeated(_)) && duplicate
        },
    },
    Leniency {
        id: "telling-members-decide",
        verdict: Verdict::Strict,
        reason: "a union takes the variant whose telling member is there, and reports what is wrong with it; the schema \
                 goes on to a variant that takes the rest for unknown members",
        covers: is_another_variant,
    },
    Leniency {
        id: "other-tags-are-another-variant",
        verdict: Verdict::Elsewhere,
        reason: "a tag that one variant fixes and another leaves open, or may leave out: the wrong value, or null, is a \
                 right one of the other variant, and what that one lacks is reported",
        covers: is_open_tag,
    },
    Leniency {
        id: "null-tells-no-variant",
        verdict: Verdict::Elsewhere,
        reason: "some peers write all members of all variants, null for those of the others: null tells a variant only if no \
                 other telling member is there, so an answer whose result or error is null is taken for a request, and \
                 reported to lack its method",
        covers: is_null_of_telling,
    },
    Leniency {
        id: "unions-report-their-own-place",
        verdict: Verdict::Elsewhere,
        reason: "where a member inside a member tells the variants apart, its absence leaves the union undecided: the \
                 union is the place, and the message names the paths that were looked for",
        covers: is_undecided,
    },
    Leniency {
        id: "constants-are-written-plainly",
        verdict: Verdict::Rewritten,
        reason: "a constant is not a field, so its spelling is not kept: -32042.0 is written as -32042",
        covers: |case| case.of.harm == Harm::Respelled && case.of.facts.kind == Kind::Constant,
    },
];

/// The entry that covers a case.
#[must_use]
pub fn covering(case: &Case<'_>) -> Option<usize> {
    let covers = |entry: &&Leniency| entry.verdict == case.verdict && (entry.covers)(case);
    ALL.iter().position(|entry| covers(&entry))
}

/// A member that the model calls optional is null, or a stray one that is optional in the variant that it tells.
fn is_null_for_optional(case: &Case<'_>) -> bool {
    match &case.of.harm {
        Harm::Replaced("null") => case.of.standing == Some(Standing::Optional),
        Harm::Stray {
            union,
            member,
            value: "null",
        } => (variants(case.model, union).iter()).any(|name| is_optional(case.model, name, member)),
        _ => false,
    }
}

/// A member is null that the answer demands, and the bare result does not.
fn is_bare_result(case: &Case<'_>) -> bool {
    case.of.harm == Harm::Replaced("null")
        && case.of.unions.iter().any(|within| {
            let Some(Shape::Union(union)) = case.model.get(&within.union).map(|def| &def.shape)
            else {
                return false;
            };
            let UnionPlan::Take(index) = union.plan else {
                return false;
            };
            let alone = union.variants.get(index).map(|variant| &variant.ty);
            let optional = alone.is_some_and(|ty| match ty {
                Ty::Named(name) => case
                    .of
                    .path
                    .last()
                    .is_some_and(|step| is_optional(case.model, name, step)),
                _ => false,
            });
            optional && within.depth + 1 == case.of.path.len()
        })
}

/// Whether an object type has an optional member of this name.
fn is_optional(model: &Model, name: &str, member: &str) -> bool {
    let Some(Shape::Object(object)) = model.get(name).map(|def| &def.shape) else {
        return false;
    };
    let named = object.members.iter().find(|named| named.wire == member);
    named.is_some_and(|named| named.presence == Presence::Optional)
}

/// The constant of `method` in a message of a union that lists what a side may send.
fn is_unknown_method(case: &Case<'_>) -> bool {
    let is_open = |within: &Within| {
        let def = case.model.get(&within.union);
        let open = def.is_some_and(|def| matches!(&def.shape, Shape::Union(union) if union.open));
        open && within.depth + 1 == case.of.path.len()
    };
    case.of.path.last().is_some_and(|step| step == "method")
        && matches!(
            case.broken.get(&case.of.path),
            Some(Node {
                value: Value::String(_),
                ..
            })
        )
        && case.of.unions.last().is_some_and(is_open)
}

/// A union on the way was decided for a variant that refuses its value, and another variant takes it.
fn is_another_variant(case: &Case<'_>) -> bool {
    let Some(error) = case
        .error
        .filter(|_| !matches!(case.of.harm, Harm::Repeated(_)))
    else {
        return false;
    };
    case.of.unions.iter().any(|within| {
        let place = case.of.path.get(..within.depth).unwrap_or_default();
        let Some(value) = case.broken.get(place) else {
            return false;
        };
        let text = value.text(&mut Style::plain());
        let takes = |variant: &String| case.judge.accepts(variant, &text);
        // The stray member tells another variant than the one that the value was drawn as.
        let decided: Vec<String> = match &case.of.harm {
            Harm::Stray { union, member, .. } if *union == within.union => {
                let knows = |variant: &String| {
                    case.model.get(variant).is_some_and(|def| match &def.shape {
                        Shape::Object(object) => {
                            object.members.iter().any(|named| named.wire == *member)
                        }
                        _ => false,
                    })
                };
                variants(case.model, union)
                    .into_iter()
                    .filter(knows)
                    .collect()
            }
            _ => within.variant.iter().cloned().collect(),
        };
        is_at_or_below(error, place)
            && decided.iter().any(|variant| !takes(variant))
            && variants(case.model, &within.union).iter().any(takes)
    })
}

fn is_at_or_below(error: &Error, place: &[String]) -> bool {
    let rest = error.pointer().strip_prefix(pointer(place).as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The place is a tag whose other values, or whose absence, belong to another variant.
fn is_open_tag(case: &Case<'_>) -> bool {
    let Some((last, outer)) = case.of.path.split_last() else {
        return false;
    };
    case.of.unions.iter().any(|within| {
        let Some(Shape::Union(union)) = case.model.get(&within.union).map(|def| &def.shape) else {
            return false;
        };
        let UnionPlan::Tag {
            member,
            other,
            absent,
            ..
        } = &union.plan
        else {
            return false;
        };
        let is_null = case.of.harm == Harm::Replaced("null");
        let leads_on = match is_null {
            true => absent.is_some(),
            false => other.is_some(),
        };
        let open = member == last && leads_on;
        let here = case
            .error
            .is_some_and(|error| error.pointer() == pointer(outer));
        open && here && within.depth == outer.len()
    })
}

/// The member that tells the variant is null, and what the variant lacks that another member tells is reported.
fn is_null_of_telling(case: &Case<'_>) -> bool {
    let (Some((last, outer)), Some(error)) = (case.of.path.split_last(), case.error) else {
        return false;
    };
    let Some(Value::Object(members)) = case.broken.get(outer).map(|node| &node.value) else {
        return false;
    };
    let is_null = case.of.harm == Harm::Replaced("null");
    let lacks = error.kind() == ErrorKind::Missing && error.pointer() == pointer(outer);
    let is_told_by_another = |within: &Within| {
        let def = case.model.get(&within.union);
        let Some(Shape::Union(union)) = def.map(|def| &def.shape) else {
            return false;
        };
        let tells = |member: &str| tells(&union.plan, member);
        let has_another = |member: &Member| member.name != *last && tells(&member.name);
        within.depth == outer.len() && tells(last) && members.iter().any(has_another)
    };
    is_null && lacks && case.of.unions.iter().any(is_told_by_another)
}

/// Whether an object is of a variant because it has this member.
fn tells(plan: &UnionPlan, member: &str) -> bool {
    match plan {
        UnionPlan::Present { cases, .. } => cases.iter().any(|case| case.value == member),
        UnionPlan::Kind(kinds) => kinds.iter().any(|kind| tells(&kind.plan, member)),
        _ => false,
    }
}

/// The crate could not decide a union on the way, and said so there.
fn is_undecided(case: &Case<'_>) -> bool {
    let Some(error) = case.error else {
        return false;
    };
    error.kind() == ErrorKind::Undecided
        && case.of.unions.iter().any(|within| {
            let place = case.of.path.get(..within.depth).unwrap_or_default();
            // The deciding path leads through the place that was broken.
            let step = case.of.path.get(within.depth);
            let named = step.is_some_and(|step| error.expected().contains(&format!("{step}/")));
            named && error.pointer() == pointer(place)
        })
}

/// The named types of a union's variants.
fn variants(model: &Model, union: &str) -> Vec<String> {
    let Some(Shape::Union(union)) = model.get(union).map(|def| &def.shape) else {
        return Vec::new();
    };
    union
        .variants
        .iter()
        .filter_map(|variant| match &variant.ty {
            Ty::Named(name) => Some(name.clone()),
            _ => None,
        })
        .collect()
}
