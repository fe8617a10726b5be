//! All revisions in one view: which of them has which message, and the diff of each adjacent pair.

use mcp_revisions_schema::sorted::SortedMap;

use serde::Serialize;

use super::extension::ExtractedFeature;
use super::messages::Message;
use super::path::direction_id;
use super::settings::DiffSettings;
use super::side::{ComparedSide, SideSources};
use super::{Diff, settled};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Direction, MethodKind};

/// The whole history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemaHistory {
    /// The revisions, oldest first.
    pub revisions: Vec<String>,
    /// The messages, in order of direction and name.
    pub methods: Vec<MethodLine>,
    /// The diffs of adjacent revisions, in order.
    pub diffs: Vec<Diff>,
}

/// A message through the revisions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodLine {
    /// Its name.
    pub name: String,
    /// `C2S` or `S2C`.
    pub direction: &'static str,
    /// The kind of message in each revision; `None` if the revision does not have it.
    pub channels: Vec<Option<MethodKind>>,
}

/// Compares these revisions or files; all revisions of the spec, if no name is given. Fails as [`super::between`].
pub fn history(
    sources: &SideSources<'_>,
    names: &[String],
    raw: bool,
) -> Result<SchemaHistory, Error> {
    let names: Vec<String> = match names {
        [] => (sources.spec.revisions.iter())
            .map(|revision| revision.id.clone())
            .collect(),
        names => names.to_vec(),
    };
    let settings = DiffSettings::read(sources.spec)?;
    let sides = match names.as_slice() {
        [old, new] => sources.open_both([old, new], raw)?.into(),
        names => {
            let sides = names.iter().map(|name| sources.open(name, raw));
            sides.collect::<Result<Vec<ComparedSide>, Error>>()?
        }
    };
    let sides: Vec<&ComparedSide> = sides.iter().collect();
    Ok(history_of(&sides, raw, &settings))
}

/// Compares sides that are open, each with the one before it; `raw` says that their errata were left out.
pub fn history_of(sides: &[&ComparedSide], raw: bool, settings: &DiffSettings) -> SchemaHistory {
    let steps = sides.windows(2).filter_map(|pair| match pair {
        [old, new] => Some(settled(old, new, raw, settings)),
        _ => None,
    });
    SchemaHistory {
        methods: method_lines(sides),
        revisions: sides.iter().map(|side| side.label.clone()).collect(),
        diffs: steps.collect(),
    }
}

/// Returns the messages that any side has, with the kind that each has in each side.
pub fn method_lines(sides: &[&ComparedSide]) -> Vec<MethodLine> {
    let mut lines: SortedMap<(Direction, bool, String), Vec<Option<MethodKind>>> = SortedMap::new();
    let feature = ExtractedFeature::among(sides);
    for (index, side) in sides.iter().enumerate() {
        let is_told = |message: &&Message| feature.is_none_or(|it| it.has(&message.name));
        for message in side.messages.iter().filter(is_told) {
            let notifies = message.kind == MethodKind::Notification;
            let key = (message.direction, notifies, message.name.clone());
            let line = lines.entry(key).or_insert_with(|| vec![None; sides.len()]);
            line[index] = Some(message.kind);
        }
    }
    lines
        .into_iter()
        .map(|((direction, _, name), channels)| MethodLine {
            name,
            direction: direction_id(direction),
            channels,
        })
        .collect()
}
