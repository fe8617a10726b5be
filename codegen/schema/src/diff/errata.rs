//! Rows that exist only because of an erratum: the comparison without errata shows no change as grave.
//!
//! The change itself is compared, not its kind. Where an erratum puts `_meta` into old params, a `_meta` that is
//! demanded now shows as `became-required`, and without the erratum as `member-added-required`: old senders are refused either way.

use crate::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::Diff;
use super::kind::ChangeKind;
use super::path::{WirePath, WirePlace};
use super::row::DiffRow;
use super::side::ComparedSide;
use super::verdict::ComparedEnd;
use crate::spec::canonical::definition;

/// The rows of a comparison, by each place on the wire where they stand.
type ErratumSite<'d> = SortedMap<WirePlace, Vec<&'d DiffRow>>;

/// Names the errata behind each row that the comparison without errata has nothing like.
pub fn marked(diff: &mut Diff, raw: &Diff, old: &ComparedSide, new: &ComparedSide) {
    let mut at = ErratumSite::new();
    for row in &raw.rows {
        for place in row.paths.iter().map(WirePath::place) {
            at.entry(place).or_default().push(row);
        }
    }
    for row in &mut diff.rows {
        if is_accounted_for(row, &raw.rows, &at) {
            continue;
        }
        let touching = ids_of_errata(old, new, |end, at| touches(row, end, at));
        // An erratum may act through a definition that the row does not name.
        row.errata = if touching.is_empty() {
            nearest(row, old, new)
        } else {
            touching
        };
    }
}

/// Returns whether there is a change as grave where the row has its own: for what moved, at both ends.
fn is_accounted_for(row: &DiffRow, others: &[DiffRow], at: &ErratumSite<'_>) -> bool {
    if row.paths.is_empty() {
        return others
            .iter()
            .any(|other| other.kind == row.kind && other.subject == row.subject);
    }
    let groups = if row.from.is_empty() {
        vec![&row.paths]
    } else {
        vec![&row.from, &row.to]
    };
    let mut ends = groups.into_iter().filter(|end| !end.is_empty());
    ends.all(|end| end.iter().any(|path| is_met(row, &path.place(), at)))
}

fn is_met(row: &DiffRow, place: &WirePlace, at: &ErratumSite<'_>) -> bool {
    let as_grave = |place: &WirePlace| {
        let here = at.get(place).into_iter().flatten();
        here.copied().filter(|other| is_as_grave(other, row))
    };
    // An erratum that makes a union of a value, or takes one apart, adds or removes a choice on the way to it.
    let spelled_otherwise = || {
        let twin = place.other_spelling();
        as_grave(&twin).any(|other| other.kind == row.kind)
    };
    let around = || {
        let holders = place.holders();
        let mut around = holders.iter().flat_map(as_grave);
        around.any(|other| came_or_went_whole(other.kind))
    };
    as_grave(place).next().is_some() || spelled_otherwise() || around()
}

/// Returns whether the other row refuses each peer that this row refuses, at the same level or a worse one.
fn is_as_grave(other: &DiffRow, row: &DiffRow) -> bool {
    let (is, other_is) = (row.verdicts, other.verdicts);
    (is.old_to_new.valid || !other_is.old_to_new.valid)
        && (is.new_to_old.valid || !other_is.new_to_old.valid)
        && other.level >= row.level
}

/// Returns whether a row of that kind tells of all that is inside, too: nothing within is compared.
fn came_or_went_whole(kind: ChangeKind) -> bool {
    matches!(
        kind,
        ChangeKind::MethodAdded
            | ChangeKind::MethodRemoved
            | ChangeKind::MemberAddedOptional
            | ChangeKind::MemberAddedRequired
            | ChangeKind::MemberRemoved
            | ChangeKind::TypeWidened
            | ChangeKind::TypeNarrowed
            | ChangeKind::TypeChanged
    )
}

fn ids_of_errata(
    old: &ComparedSide,
    new: &ComparedSide,
    fits: impl Fn(ComparedEnd, &[String]) -> bool,
) -> Vec<String> {
    let mut ids = SortedSet::new();
    for (side, end) in [(old, ComparedEnd::Old), (new, ComparedEnd::New)] {
        let fitting = side.errata.iter().filter(|one| fits(end, &one.at));
        ids.extend(fitting.map(|erratum| format!("{}: {}", side.label, erratum.id)));
    }
    ids.into_iter().collect()
}

/// Returns the errata nearest to the texts that show a row: in the definitions that a schema of such a text refers to, or else
/// in those that these refer to, and so on; all errata where none is met.
fn nearest(row: &DiffRow, old: &ComparedSide, new: &ComparedSide) -> Vec<String> {
    let sides = [(ComparedEnd::Old, old), (ComparedEnd::New, new)];
    let mut met = sides.map(|(end, side)| {
        let mut names = SortedSet::new();
        let of_row = row.witnesses.iter();
        for pointer in of_row.flat_map(|witness| end.of(&witness.old, &witness.new)) {
            names.extend(definition_of(pointer).map(str::to_owned));
            let schema = side.schema.pointer(pointer);
            schema.into_iter().for_each(|it| referred(it, &mut names));
        }
        names
    });
    loop {
        let found = ids_of_errata(old, new, |end, at| {
            let mut names = at.iter().filter_map(|at| definition_of(at));
            names.any(|name| end.at(met.each_ref()).contains(name))
        });
        let size = |met: &[SortedSet<String>; 2]| met.iter().map(|names| names.len()).sum();
        let before: usize = size(&met);
        if !found.is_empty() {
            return found;
        }
        for (names, (_, side)) in met.iter_mut().zip(sides) {
            for name in names.clone() {
                let schema = definition(&side.schema, &name);
                schema.into_iter().for_each(|it| referred(it, names));
            }
        }
        if size(&met) == before {
            return ids_of_errata(old, new, |_, _| true);
        }
    }
}

/// Collects the definitions that a schema refers to.
fn referred(schema: &Value, names: &mut SortedSet<String>) {
    match schema {
        Value::Object(members) => {
            let name = members
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| definition_of(name.strip_prefix('#')?));
            names.extend(name.map(str::to_owned));
            members.values().for_each(|member| referred(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        _ => {}
    }
}

/// Returns the definition that a JSON pointer goes into.
fn definition_of(pointer: &str) -> Option<&str> {
    pointer.split('/').nth(2)
}

/// Returns whether a row speaks of a definition that one of these pointers goes into.
fn touches(row: &DiffRow, end: ComparedEnd, pointers: &[String]) -> bool {
    let view = end.of(&row.before, &row.after);
    let places = row
        .places
        .iter()
        .map(|place| end.of(&place.old, &place.new));
    let names = places.chain(view.iter().map(|view| &view.text));
    let mut definitions = names
        .filter_map(|name| name.split(['.', '[', '{']).next())
        .filter(|name| !name.is_empty());
    definitions.any(|name| pointers.iter().any(|at| definition_of(at) == Some(name)))
}
