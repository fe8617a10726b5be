//! The rows of a diff as a reader wants them: by theme, the gravest first, the same change in many methods once.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::cmp::Reverse;

use crate::words::joined;
use crate::{ChangeKind, Diff, DiffRow, ExchangePart, WirePath};

use super::change_line;
use mcp_revisions_schema::model::Direction;

/// A feature, or a part that every exchange has, with its changes.
#[derive(Debug)]
pub struct Theme<'d> {
    /// The name of the theme.
    pub id: String,
    /// Its changes, the gravest first.
    pub changes: Vec<ThemeChange<'d>>,
}

/// One change, at all places where it is made.
#[derive(Debug)]
pub struct ThemeChange<'d> {
    /// The rows that tell it, in the order of the diff; never empty.
    rows: Vec<&'d DiffRow>,
}

/// Maximum number of other methods with a path that are named beside it.
const ALSO: usize = 2;

/// Themes that come first, in their order; features follow, the gravest first.
const GENERAL: &[&str] = &[
    LIFECYCLE,
    REQUESTS,
    RESULTS,
    NOTIFICATIONS,
    SHARED,
    MESSAGES,
    TRANSPORT,
    ERRORS,
];
const LIFECYCLE: &str = "lifecycle";
const REQUESTS: &str = "requests";
const RESULTS: &str = "results";
const NOTIFICATIONS: &str = "notifications";
const SHARED: &str = "several features";
const MESSAGES: &str = "messages";
const TRANSPORT: &str = "transport";
const ERRORS: &str = "errors";
/// The heading of changes without a wire path.
const NAMES: &str = "names of definitions";

/// Groups the changes of a diff by theme.
pub fn themes(diff: &Diff) -> Vec<Theme<'_>> {
    let mut themes: Vec<Theme<'_>> = Vec::new();
    for change in changes(diff) {
        let id = theme_of(diff, &change);
        match themes.iter_mut().find(|theme| theme.id == id) {
            Some(theme) => theme.changes.push(change),
            None => themes.push(Theme {
                id,
                changes: vec![change],
            }),
        }
    }
    for theme in &mut themes {
        (theme.changes).sort_by_key(|change| Reverse(change.lead().level));
    }
    themes.sort_by_cached_key(|theme| {
        let general = GENERAL
            .iter()
            .position(|id| *id == theme.id)
            .unwrap_or(GENERAL.len());
        let worst = theme.changes.first().map(|change| change.lead().level);
        (theme.id == NAMES, general, Reverse(worst), theme.id.clone())
    });
    themes
}

/// Returns the rows of a diff, those that say the same of several places as one.
pub(super) fn changes(diff: &Diff) -> Vec<ThemeChange<'_>> {
    let mut all: Vec<ThemeChange<'_>> = Vec::new();
    let mut known: SortedMap<Vec<String>, usize> = SortedMap::new();
    for row in &diff.rows {
        let key = likeness(diff, row);
        match known.get(&key) {
            Some(at) => all[*at].rows.push(row),
            None => {
                known.insert(key, all.len());
                all.push(ThemeChange { rows: vec![row] });
            }
        }
    }
    all
}

/// Returns the properties that two rows share if they say the same.
fn likeness(diff: &Diff, row: &DiffRow) -> Vec<String> {
    let part = row.paths.first().map(|path| path.part);
    let mut key = vec![row.kind.id().to_owned(), row.level.as_str().to_owned()];
    match (row.kind, part) {
        (kind, _) if is_of_messages(kind) => {
            key.extend(areas(diff, row.paths.iter()).into_iter().cloned());
        }
        (ChangeKind::Moved, _)
        | (
            _,
            None
            | Some(
                ExchangePart::Header
                | ExchangePart::Rule
                | ExchangePart::Error
                | ExchangePart::Message
                | ExchangePart::Response,
            ),
        ) => {
            key.push(row.fingerprint.clone());
        }
        _ => {
            key.extend(row.subject.clone());
            key.push(change_line(row));
            key.push(format!("{:?}", row.verdicts));
        }
    }
    key
}

/// Returns whether a change of this kind is about messages as a whole.
fn is_of_messages(kind: ChangeKind) -> bool {
    matches!(
        kind,
        ChangeKind::MethodAdded | ChangeKind::MethodRemoved | ChangeKind::MethodRechanneled
    )
}

fn areas<'d>(diff: &'d Diff, paths: impl Iterator<Item = &'d WirePath>) -> SortedSet<&'d String> {
    let methods = paths
        .map(|path| &path.method)
        .filter(|method| *method != "*");
    methods
        .map(|method| diff.areas.get(method).unwrap_or(method))
        .collect()
}

fn theme_of(diff: &Diff, change: &ThemeChange<'_>) -> String {
    if let Some(about) = &change.lead().about {
        return about.clone();
    }
    let paths: Vec<&WirePath> = change.main().collect();
    let areas = areas(diff, change.main());
    let parts: SortedSet<ExchangePart> = paths.iter().map(|path| path.part).collect();
    let only = |part: ExchangePart| parts.len() == 1 && parts.contains(&part);
    if let (Some(area), 1) = (areas.first(), areas.len()) {
        return (*area).clone();
    }
    let theme = if paths.is_empty() {
        NAMES
    } else if only(ExchangePart::Header) {
        TRANSPORT
    } else if only(ExchangePart::Error) {
        ERRORS
    } else if areas.is_empty() {
        MESSAGES
    } else if only(ExchangePart::Params) {
        let notifies = |path: &&WirePath| path.method.starts_with("notifications/");
        if paths.iter().all(notifies) {
            NOTIFICATIONS
        } else {
            REQUESTS
        }
    } else if only(ExchangePart::Result) {
        RESULTS
    } else {
        SHARED
    };
    theme.to_owned()
}

/// Returns the wire paths of a row: of what moved, where it is now.
pub(super) fn main_paths(row: &DiffRow) -> &[WirePath] {
    if row.to.is_empty() {
        &row.paths
    } else {
        &row.to
    }
}

/// Returns whether both sides send a path alike, in no method of its own: an error, or a rule.
pub(super) fn has_twin(path: &WirePath, paths: &[&WirePath]) -> bool {
    let is_twin = |other: &&WirePath| {
        path.direction != other.direction
            && (&path.method, path.part, path.path()) == (&other.method, other.part, other.path())
    };
    path.method == "*" && paths.iter().any(is_twin)
}

/// Returns the wire paths of a row as they are listed, one that both sides send alike once and without a direction.
pub(super) fn listed_paths(row: &DiffRow) -> Vec<String> {
    let paths: Vec<&WirePath> = main_paths(row).iter().collect();
    let mut listed: Vec<String> = Vec::new();
    for path in &paths {
        let text = written_path(path, has_twin(path, &paths));
        if !listed.contains(&text) {
            listed.push(text);
        }
    }
    listed
}

/// Returns a wire path in words, without its direction if both sides send it.
fn written_path(path: &WirePath, both: bool) -> String {
    if both {
        format!("{} {}", path.part, path.path())
    } else {
        path.to_string()
    }
}

impl<'d> ThemeChange<'d> {
    /// Returns the change that one row tells.
    pub(super) fn of(row: &'d DiffRow) -> Self {
        Self { rows: vec![row] }
    }

    /// Returns its rows.
    pub fn rows(&self) -> &[&'d DiffRow] {
        &self.rows
    }

    /// Returns the first of its rows: kind, level, subject and shapes are those of all.
    pub fn lead(&self) -> &'d DiffRow {
        self.rows[0]
    }

    /// Returns its wire paths, the shortest ones first: of what moved, where it is now.
    pub fn main(&self) -> impl Iterator<Item = &'d WirePath> + use<'d> {
        let mut paths: Vec<&WirePath> = self.rows.iter().flat_map(|row| main_paths(row)).collect();
        if !self.is_of_messages() {
            paths.sort_by_key(|path| path.trail.segments.len());
        }
        paths.into_iter()
    }

    /// Returns its wire paths as people read them, each with a remark on the methods that have it as well.
    ///
    /// Returns the paths with their directions. A path that both sides send alike, in no method of its own, has none.
    pub fn written(&self) -> Vec<(String, String)> {
        let paths: Vec<&WirePath> = self.main().collect();
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        let mut known: SortedMap<(Option<Direction>, ExchangePart, &str), usize> = SortedMap::new();
        for path in &paths {
            let has_twin = has_twin(path, &paths);
            let direction = (!has_twin).then_some(path.direction);
            let key = (direction, path.part, path.path());
            match known.get(&key).filter(|_| !self.is_of_messages()) {
                Some(at) => groups[*at].1.push(&path.method),
                None => {
                    known.insert(key, groups.len());
                    groups.push((written_path(path, has_twin), Vec::new()));
                }
            }
        }
        let lines = groups.into_iter().map(|(text, mut others)| {
            others.retain(|method| *method != "*");
            let more = others.len().saturating_sub(ALSO);
            others.truncate(ALSO);
            let others = joined(others, ", ");
            let remark = match (others.as_str(), more) {
                ("", _) => String::new(),
                (others, 0) => format!(" (also {others})"),
                (others, more) => format!(" (also {others} and {more} more)"),
            };
            (text, remark)
        });
        lines.collect()
    }

    /// Returns, of what moved, where it was.
    pub fn from(&self) -> impl Iterator<Item = &'d WirePath> {
        self.rows.iter().flat_map(|row| &row.from)
    }

    /// Returns the old and the new value of its rows, in one line; empty if they differ.
    pub fn line(&self) -> String {
        let mut lines = self.rows.iter().map(|row| change_line(row));
        let first = lines
            .next()
            .filter(|first| lines.all(|line| line == *first));
        first.unwrap_or_default()
    }

    /// Returns whether it is about messages as a whole.
    pub fn is_of_messages(&self) -> bool {
        is_of_messages(self.lead().kind)
    }

    /// Returns the fingerprints of its rows.
    pub fn fingerprints(&self) -> impl Iterator<Item = &'d str> {
        self.rows.iter().map(|row| row.fingerprint.as_str())
    }
}
