//! Which rows are there because of an erratum alone: those that the comparison without errata does not have.

use std::collections::BTreeSet;

use super::Diff;
use super::kind::Kind;
use super::path::without_choices;
use super::row::Row;
use super::show::View;
use super::side::Side;

/// Names the errata behind each row that the comparison without errata does not have.
pub fn marked(diff: &mut Diff, raw: &Diff, old: &Side, new: &Side) {
    let without: BTreeSet<_> = raw.rows.iter().map(essence).collect();
    for row in &mut diff.rows {
        if without.contains(&essence(row)) {
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

fn ids_of_errata(old: &Side, new: &Side, fits: impl Fn(bool, &[String]) -> bool) -> Vec<String> {
    let mut ids = BTreeSet::new();
    for (side, of_old) in [(old, true), (new, false)] {
        for erratum in side
            .errata
            .iter()
            .filter(|erratum| fits(of_old, &erratum.at))
        {
            ids.insert(format!("{}: {}", side.label, erratum.id));
        }
    }
    ids.into_iter().collect()
}

/// What a row says, whatever tells the choices of unions apart: an erratum may change that alone.
fn essence(row: &Row) -> (Kind, String, String, String) {
    let path = row
        .paths
        .first()
        .map_or_else(String::new, |path| without_choices(&path.to_string()));
    let text = |view: &Option<View>| {
        view.as_ref()
            .map(|view| view.text.clone())
            .unwrap_or_default()
    };
    (row.kind, path, text(&row.before), text(&row.after))
}

/// Whether a row speaks of a definition that one of these pointers goes into.
fn touches(row: &Row, of_old: bool, pointers: &[String]) -> bool {
    let view = if of_old { &row.before } else { &row.after };
    let places = row
        .places
        .iter()
        .map(|place| if of_old { &place.old } else { &place.new });
    let names = places.chain(view.iter().map(|view| &view.text));
    let mut definitions = names
        .filter_map(|name| name.split(['.', '[', '{']).next())
        .filter(|name| !name.is_empty());
    definitions.any(|name| pointers.iter().any(|at| at.split('/').nth(2) == Some(name)))
}
