//! The changes between two states of the protocol, by wire path.
//!
//! [`compare`] takes two [`ComparedSide`]s and gives back rows: what happened, where on the wire, who breaks,
//! and a text that shows it. [`DiffSettings`] then sets the levels that `spec/diff.toml` decides. [`render`] writes them as text, Markdown,
//! JSON and HTML, and `command` has the subcommands that programs share.

mod baseline;
mod bounds;
mod builder;
mod classes;
#[cfg(feature = "command")]
pub mod command;
mod compare;
mod extension;
mod facts;
mod filter;
mod graph;
mod history;
mod judge;
mod kind;
mod limits;
mod lines;
mod lock;
mod mentioned;
mod messages;
mod methods;
mod moved;
mod path;
mod patterns;
mod remarks;
pub mod render;
mod respelled;
mod role;
mod roots;
mod row;
mod rows;
mod sample;
mod scalars;
mod settings;
mod show;
mod side;
mod site;
mod steps;
mod summary;
mod unreached;
mod variants;
mod verdict;
mod walk;
mod witness;
mod words;

use mcp_revisions_schema::pointer::escaped;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use serde::Serialize;

pub use baseline::{Baseline, IgnoredChange};
pub(crate) use classes::classes;
pub(crate) use compare::{Comparer, Envelope};
pub use extension::MovedMethods;
use extension::moved_methods;
pub use filter::RowFilter;
pub(crate) use graph::{Graph, GraphRest, NodeId as Node, NodeShape};
pub use history::{MethodLine, SchemaHistory, history, history_of, method_lines};
pub use judge::refused_by;
pub use kind::{ChangeKind, Explanation};
pub use limits::{ComparedSchemas, Limit, MemberLimits, is_text};
use lines::SourceLines;
pub(crate) use messages::channel;
pub use path::{ExchangePart, PathSegment, Trail, WirePath, WirePlace, bare, direction_id};
pub use patterns::texts as pattern_texts;
pub use role::RoleCounts;
pub(crate) use row::refuses_more;
pub use row::{DiffRow, MetRule, PROVEN, Prose, Witness};
use rows::DiffRows;
pub use settings::DiffSettings;
pub use show::View;
pub(crate) use show::line;
pub use side::{ComparedSide, SideSources};
pub use site::DiffLocation;
pub(crate) use site::{DifferenceDetail, SchemaDifference, place};
pub use summary::{KindCount, Summary};
pub use variants::{ChoiceMarks, pair};
pub use verdict::{ChangeLevel, ComparedEnd, CrateChange, DirectionVerdict, Meaning, Verdicts};

use mcp_revisions_schema::Error;

/// The changes between two sides.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The name of the old side.
    pub old: String,
    /// The name of the new side.
    pub new: String,
    /// The kind of things that the sides are states of.
    #[serde(skip_serializing_if = "ComparedSubject::is_protocol")]
    pub compared: ComparedSubject,
    /// Set if errata were left out.
    pub raw: bool,
    /// The changes, in the order of their wire paths.
    pub rows: Vec<DiffRow>,
    /// The changes that a [`Baseline`] knows.
    pub ignored: Vec<IgnoredChange>,
    /// Number of rows that a filter left out.
    pub hidden: usize,
    /// Notes on the inputs, for the reader.
    pub notes: Vec<String>,
    /// The parts that could not be compared, and why: with any, the diff is not the whole of the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<String>,
    /// Changes of the prose without a row, step by step; empty if only some rows are asked for.
    pub prose: Vec<Prose>,
    /// The methods that left the core for an extension.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<MovedMethods>,
    /// The methods that an extension added to the old side, and that are of the core of the new one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<MovedMethods>,
    /// The area of each method of either side.
    #[serde(skip)]
    pub areas: SortedMap<String, String>,
    /// URLs of the reference pages of the old and the new side, `{anchor}` stands for the name of a definition in lower case;
    /// empty of a file.
    #[serde(skip_serializing_if = "is_unknown")]
    pub references: [String; 2],
    /// Of the sides that are files: where their parts stand.
    #[serde(skip)]
    pub(crate) lines: [Option<SourceLines>; 2],
}

/// The kind of things that two sides are states of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedSubject {
    /// The protocol: each revision has peers that meet those of the other one.
    #[default]
    Protocol,
    /// Servers: clients of the old one meet the new one, and not the reverse.
    Servers,
}

impl ComparedSubject {
    fn is_protocol(&self) -> bool {
        *self == Self::Protocol
    }
}

fn is_unknown(references: &[String; 2]) -> bool {
    references.iter().all(String::is_empty)
}

impl Diff {
    /// Returns the counts, and what they come to.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// Returns file and line of a row: in the new file, else in the old one; `None` if neither is a file.
    pub fn location(&self, row: &DiffRow) -> Option<(&str, usize)> {
        let views = [&row.after, &row.before].into_iter().flatten();
        let own = views.map(|view| &view.pointer).find(|it| !it.is_empty());
        let pointer = match (own, row.paths.first(), self.compared) {
            (Some(own), ..) => own.clone(),
            // What no schema says stands at its path in the entry of the method.
            (None, Some(path), ComparedSubject::Servers) => {
                let way = path.trail.members().into_iter().map(escaped);
                way.fold(path.method.clone(), |pointer, name| {
                    format!("{pointer}/{name}")
                })
            }
            _ => return None,
        };
        let [old, new] = &self.lines;
        let lines = new.as_ref().or(old.as_ref())?;
        Some((&lines.file, lines.of_pointer(&pointer)))
    }

    /// Sets aside the rows that fit, each with the reason that is given for it.
    fn set_aside(&mut self, reason: impl Fn(&DiffRow) -> Option<String>) {
        for row in std::mem::take(&mut self.rows) {
            match reason(&row) {
                Some(reason) => self.ignored.push(IgnoredChange { row, reason }),
                None => self.rows.push(row),
            }
        }
    }

    /// Fills in the rules that each row meets.
    pub fn cover(&mut self, rules_of: impl Fn(&DiffRow) -> Vec<MetRule>) {
        for row in &mut self.rows {
            row.rules = rules_of(row);
        }
    }
}

/// Compares two names in all steps: open, compare, set the levels of `spec/diff.toml`. Fails for an input that cannot be read.
pub fn between(sources: &SideSources<'_>, old: &str, new: &str, raw: bool) -> Result<Diff, Error> {
    let settings = DiffSettings::read(sources.spec)?;
    let sides = sources.open_both([old, new], raw)?;
    let [old, new] = sides.each_ref();
    Ok(settled(old, new, raw, &settings))
}

/// Compares two sides, and sets the levels of `spec/diff.toml`.
fn settled(old: &ComparedSide, new: &ComparedSide, raw: bool, settings: &DiffSettings) -> Diff {
    let mut diff = compare(old, new);
    diff.raw = raw;
    settings.apply(&mut diff);
    diff
}

/// Compares two sides.
pub fn compare(old: &ComparedSide, new: &ComparedSide) -> Diff {
    if old.lock.is_some() && new.lock.is_some() {
        return lock::compare(old, new);
    }
    let mut comparer = Comparer::new(&old.graph, &new.graph);
    let pairs = methods::pair(old, new);
    let roots = roots::roots(&pairs, &mut comparer);
    let mut rows = DiffRows::default();
    let mut cut = rows.add(&comparer, &roots, [old, new]);
    rows.list.extend(methods::rows(&pairs));
    rows.list.extend(facts::rows(old, new));
    let moves = moved::find(&rows.list, &pairs, &comparer);
    // Changes inside a value that moved are rows as well.
    let roots = moved::roots(&moves, &mut comparer);
    cut |= rows.add(&comparer, &roots, [old, new]);
    let left_out = rows.note();
    let mut list = rows.list;
    moved::merge(&mut list, &moves, &pairs, &comparer);
    list.extend(moved::renamed(&pairs, &comparer));
    respelled::mark(&mut list);
    rows::order(&mut list, old, new);
    let mut notes: Vec<String> = old.notes.iter().chain(&new.notes).cloned().collect();
    notes.dedup();
    notes.extend(facts::meta_notes(old, new));
    notes.extend(left_out);
    notes.extend(unreached::note([old, new], &pairs, &comparer, &list));
    let mut uncompared: Vec<String> = old.unlisted.iter().chain(&new.unlisted).cloned().collect();
    uncompared.extend(methods::uncompared(&pairs));
    if cut {
        let told = "there are more wire paths than are followed: rows name only some of theirs, and a change that only others reach has no row";
        uncompared.push(told.to_owned());
    }
    let methods_of = |kind: ChangeKind| -> SortedSet<&String> {
        let rows = list.iter().filter(|row| row.kind == kind);
        rows.flat_map(|row| row.paths.iter().map(|path| &path.method))
            .collect()
    };
    let extensions = moved_methods(&new.cores, &methods_of(ChangeKind::MethodRemoved));
    let taken_back = match (&old.feature, &new.feature) {
        (None, None) => moved_methods(&old.features, &methods_of(ChangeKind::MethodAdded)),
        _ => Vec::new(),
    };
    Diff {
        old: old.label.clone(),
        new: new.label.clone(),
        rows: list,
        notes,
        uncompared,
        extensions,
        taken_back,
        references: [old.reference.clone(), new.reference.clone()],
        lines: [old.lines.clone(), new.lines.clone()],
        areas: (old.areas.clone().into_iter())
            .chain(new.areas.clone())
            .collect(),
        ..Diff::default()
    }
}
