//! Which rows are there because of an erratum alone: where the comparison without errata shows no change as grave.
//!
//! The change itself is compared, not its kind. Where an erratum puts `_meta` into old params, a `_meta` that is
//! demanded now shows as `became-required`, and without the erratum as `member-added-required`: old senders are refused either way.

use crate::sorted::{SortedMap, SortedSet};

use super::Diff;
use super::kind::Kind;
use super::path::{WirePath, WirePlace};
use super::row::Row;
use super::side::Side;

/// Names the errata behind each row that the comparison without errata has nothing like.
pub fn marked(diff: &mut Diff, raw: &Diff, old: &Side, new: &Side) {
    let without = Changes::of(raw);
    for row in &mut diff.rows {
        if without.account_for(row) {
            continue;
        }
        let touching = ids_of_errata(old, new, |of_old, at| touches(row, of_old, at));
        // An erratum may act through a definition that the row does not name.
        row.errata = match touching.is_empty() {
            true => ids_of_errata(old, new, |_, _| true),
            false => touching,
        };
    }
}

/// The changes of a comparison, to be looked up by place on the wire.
struct Changes<'d> {
    rows: &'d [Row],
    /// Which rows stand at a place.
    at: SortedMap<WirePlace, Vec<&'d Row>>,
}

impl<'d> Changes<'d> {
    fn of(diff: &'d Diff) -> Self {
        let mut at: SortedMap<WirePlace, Vec<&Row>> = SortedMap::new();
        for row in &diff.rows {
            for place in places(&row.paths) {
                at.entry(place).or_default().push(row);
            }
        }
        Self {
            rows: &diff.rows,
            at,
        }
    }

    /// Whether there is a change as grave where the row has its own: for what moved, at both ends.
    fn account_for(&self, row: &Row) -> bool {
        if row.paths.is_empty() {
            let mut others = self.rows.iter();
            return others.any(|other| other.kind == row.kind && other.subject == row.subject);
        }
        let mut ends = match row.from.is_empty() {
            true => vec![&row.paths],
            false => vec![&row.from, &row.to],
        };
        ends.retain(|end| !end.is_empty());
        ends.into_iter().all(|end| self.touch(row, &places(end)))
    }

    fn touch(&self, row: &Row, places: &[WirePlace]) -> bool {
        let as_grave = |place: &WirePlace| {
            let here = self.at.get(place).into_iter().flatten();
            here.copied().filter(|other| is_as_grave(other, row))
        };
        places.iter().any(|place| {
            // Where an erratum makes a union of a value, or takes one apart, the way to it gains or loses a choice.
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
        })
    }
}

/// Whether everybody whom the row refuses is refused by the other one, too, and the level is no better.
fn is_as_grave(other: &Row, row: &Row) -> bool {
    let (is, other_is) = (row.verdicts, other.verdicts);
    (is.old_to_new.valid || !other_is.old_to_new.valid)
        && (is.new_to_old.valid || !other_is.new_to_old.valid)
        && other.level >= row.level
}

fn places(paths: &[WirePath]) -> Vec<WirePlace> {
    paths.iter().map(WirePath::place).collect()
}

/// Whether a row of that kind tells of all that is inside, too: nothing within is compared.
fn came_or_went_whole(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::MethodAdded
            | Kind::MethodRemoved
            | Kind::MemberAddedOptional
            | Kind::MemberAddedRequired
            | Kind::MemberRemoved
            | Kind::TypeWidened
            | Kind::TypeNarrowed
            | Kind::TypeChanged
    )
}

fn ids_of_errata(old: &Side, new: &Side, fits: impl Fn(bool, &[String]) -> bool) -> Vec<String> {
    let mut ids = SortedSet::new();
    for (side, of_old) in [(old, true), (new, false)] {
        let fitting = side.errata.iter().filter(|one| fits(of_old, &one.at));
        ids.extend(fitting.map(|erratum| format!("{}: {}", side.label, erratum.id)));
    }
    ids.into_iter().collect()
}

/// Whether a row speaks of a definition that one of these pointers goes into.
fn touches(row: &Row, of_old: bool, pointers: &[String]) -> bool {
    let view = if of_old { &row.before } else { &row.after };
    let places = row.places.iter();
    let places = places.map(|place| if of_old { &place.old } else { &place.new });
    let names = places.chain(view.iter().map(|view| &view.text));
    let mut definitions = names
        .filter_map(|name| name.split(['.', '[', '{']).next())
        .filter(|name| !name.is_empty());
    definitions.any(|name| pointers.iter().any(|at| at.split('/').nth(2) == Some(name)))
}
