//! The order of rows, and their fingerprints: the same for as long as a change is.

use crate::sorted::SortedMap;

use super::kind::Kind;
use super::row::Row;
use super::show::{self, View};
use super::side::Side;

/// Sorts the rows and signs them. Rows that would have the same fingerprint are distinguished by the whole of their
/// shapes, and by a number only where these are the same, too.
pub(super) fn order(rows: &mut [Row], old: &Side, new: &Side) {
    rows.sort_by_cached_key(|row| {
        let names = format!("{:?}", row.places);
        (row.paths.clone(), row.kind, row.subject.clone(), names)
    });
    let whole = |row: &Row| {
        let of = |side: &Side, view: &Option<View>| {
            let node = view.as_ref().and_then(|view| view.node);
            node.map_or_else(String::new, |node| show::spelled(&side.graph, node))
        };
        format!("{}\n{}", of(old, &row.before), of(new, &row.after))
    };
    let facet = |row: &Row| match row.subject.as_deref() {
        // Lists are told apart by nothing but their items.
        Some("array") => format!("{}\n{}", facet(row), whole(row)),
        _ => facet(row),
    };
    for row in rows.iter_mut() {
        row.sign(&facet(row));
    }
    sign_apart(rows, |row, _| format!("{}\n{}", facet(row), whole(row)));
    sign_apart(rows, |row, count| format!("{}\n{count}", row.fingerprint));
}

/// Signs again the rows that have one fingerprint, each by what it says of the row and how many came before.
fn sign_apart(rows: &mut [Row], says: impl Fn(&Row, usize) -> String) {
    let mut counts: SortedMap<String, [usize; 2]> = SortedMap::new();
    for row in rows.iter() {
        counts.entry(row.fingerprint.clone()).or_default()[0] += 1;
    }
    for row in rows {
        if let Some([all, seen]) = counts.get_mut(&row.fingerprint)
            && *all > 1
        {
            *seen += 1;
            let facet = says(row, *seen);
            row.sign(&facet);
        }
    }
}

/// What tells a row from others of its kind at the same path, without the names of definitions.
fn facet(row: &Row) -> String {
    let brief = |view: &Option<View>| {
        view.as_ref()
            .map_or_else(String::new, |it| it.brief.clone())
    };
    let subject = row.subject.clone().unwrap_or_default();
    match row.kind {
        Kind::TypeChanged
        | Kind::TypeNarrowed
        | Kind::TypeWidened
        | Kind::ConstChanged
        | Kind::ConstraintChanged => {
            format!("{subject}\n{}\n{}", brief(&row.before), brief(&row.after))
        }
        Kind::DefinitionRenamed => {
            let names = row.places.iter();
            let names = names.map(|place| format!("{} {}", place.old, place.new));
            show::joined(names, "\n")
        }
        _ => subject,
    }
}
