//! The changes of a diff by wire path: each exchange with the places in it that changed, nested as they are on the wire.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use minijinja::{Value, context};

use crate::{Diff, DiffRow, WirePath, direction_id};

/// A row that changes a place: anchor, level and kind.
type PlaceChange = (String, &'static str, &'static str);

/// Returns the exchanges with changes, each with its places in the order of their paths: the depth of a place, its path
/// from the place that contains it, and its changes.
pub(super) fn exchanges(pair: &str, diff: &Diff) -> Value {
    let mut exchanges: SortedMap<String, ChangedPlaces> = SortedMap::new();
    for row in &diff.rows {
        for path in &row.paths {
            let places = exchanges.entry(heading(path)).or_default();
            let changes = places.entry(path.trail.steps()).or_default();
            changes.insert(change(pair, row));
        }
    }
    let listed = exchanges.into_iter().map(|(exchange, places)| {
        let count: usize = places.iter().map(|(_, changes)| changes.len()).sum();
        let places = with_forks(places);
        // The places that contain the next one, outermost first.
        let mut around: Vec<Vec<String>> = Vec::new();
        let lines = places.into_iter().map(|(steps, changes)| {
            around.retain(|outer| steps.starts_with(outer));
            let known = around.last().map_or(0, Vec::len);
            let path = steps[known..].concat();
            let depth = around.len();
            around.push(steps);
            let links = changes.iter().map(|(anchor, level, kind)| {
                context! { anchor, level => *level, kind => *kind }
            });
            context! { depth, path, changes => links.collect::<Value>() }
        });
        context! { exchange, count, lines => lines.collect::<Value>() }
    });
    listed.collect()
}

/// The places of an exchange that changed, by the steps to each.
type ChangedPlaces = SortedMap<Vec<String>, SortedSet<PlaceChange>>;

/// Adds the places at which the ways to others part, but for the whole.
fn with_forks(mut places: ChangedPlaces) -> ChangedPlaces {
    let ways: Vec<Vec<String>> = places.iter().map(|(steps, _)| steps.clone()).collect();
    for ways in ways.windows(2) {
        let [one, other] = ways else { continue };
        let shared = one.iter().zip(other).take_while(|(a, b)| a == b).count();
        if shared > 1 {
            places.entry(one[..shared].to_vec()).or_default();
        }
    }
    places
}

/// Returns the name of an exchange, without a direction where both sides send it.
fn heading(path: &WirePath) -> String {
    let WirePath { method, part, .. } = path;
    match method.as_str() {
        "*" => format!("every {part}"),
        method => format!("{} {method} {part}", direction_id(path.direction)),
    }
}

fn change(pair: &str, row: &DiffRow) -> PlaceChange {
    let anchor = format!("{pair}.{}", row.fingerprint);
    (anchor, row.level.as_str(), row.kind.id())
}
