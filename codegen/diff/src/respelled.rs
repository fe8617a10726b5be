//! Members that may have another name now: one went and one came at the same places, of one type and with akin names.

use super::kind::ChangeKind;
use super::path::{ExchangePart, PathSegment, WirePath, bare};
use super::row::DiffRow;
use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

/// The place of an object on the wire.
type Holder<'p> = (Direction, &'p str, ExchangePart, &'p [PathSegment]);

/// Tells each member that went of the one that may be it, and the other way round.
pub(super) fn mark(rows: &mut [DiffRow]) {
    let mut gone: SortedMap<SortedSet<Holder<'_>>, Vec<usize>> = SortedMap::new();
    for (at, row) in rows.iter().enumerate() {
        if row.kind == ChangeKind::MemberRemoved {
            gone.entry(holders(&row.paths)).or_default().push(at);
        }
    }
    let mut pairs = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if !matches!(
            row.kind,
            ChangeKind::MemberAddedOptional | ChangeKind::MemberAddedRequired
        ) {
            continue;
        }
        let candidates = gone.get(&holders(&row.paths));
        let mut akin = candidates
            .into_iter()
            .flatten()
            .filter(|old| are_akin(&rows[**old], row));
        if let (Some(old), None) = (akin.next(), akin.next()) {
            pairs.push((*old, at));
        }
    }
    for (old, new) in pairs {
        if rows[old].other_name.is_none() {
            rows[old].other_name = rows[new].subject.clone();
            rows[new].other_name = rows[old].subject.clone();
        }
    }
}

/// Returns the objects that hold the members of these paths.
fn holders(paths: &[WirePath]) -> SortedSet<Holder<'_>> {
    let holders = paths.iter().filter_map(|path| {
        let (_, around) = path.trail.segments.split_last()?;
        Some((path.direction, &*path.method, path.part, around))
    });
    holders.collect()
}

/// Returns whether a member that went and one that came are of one type, and one of their names is part of the other.
fn are_akin(old: &DiffRow, new: &DiffRow) -> bool {
    let plain = |row: &DiffRow| {
        let name = row.subject.as_deref().map(bare).unwrap_or_default();
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        letters.collect::<String>().to_lowercase()
    };
    let (was, is) = (plain(old), plain(new));
    let brief = |view: &Option<super::View>| view.as_ref().map(|view| view.brief.clone());
    let is_part = !was.is_empty() && !is.is_empty() && (was.contains(&is) || is.contains(&was));
    is_part && brief(&old.before) == brief(&new.after)
}
