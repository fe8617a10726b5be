//! The matrix of the page: which revision has which message, and what happened to it on the way there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diff::{Diff, Level, MethodLine, WirePath, channel, direction_id};
use crate::model::MethodKind;

#[derive(Serialize)]
pub(super) struct DirectionLines<'d> {
    id: &'static str,
    words: &'static str,
    lines: Vec<Line<'d>>,
}

#[derive(Serialize)]
pub(super) struct Line<'d> {
    method: &'d str,
    cells: Vec<Cell>,
}

/// A message in one revision, and what happened to it on the way there.
#[derive(Serialize)]
pub(super) struct Cell {
    channel: Option<&'static str>,
    mark: &'static str,
    level: Option<&'static str>,
    count: usize,
    pair: Option<usize>,
}

/// The lines of the matrix, by direction, those with the gravest changes first.
pub(super) fn lines<'d>(methods: &'d [MethodLine], diffs: &'d [Diff]) -> Vec<DirectionLines<'d>> {
    let impact = impact(diffs);
    let mut directions: Vec<DirectionLines<'_>> = Vec::new();
    for line in methods {
        let cells = (line.channels.iter().enumerate())
            .map(|(index, channel)| {
                let key = (index.wrapping_sub(1), line.direction, line.name.as_str());
                cell(index, *channel, impact.get(&key))
            })
            .collect();
        let line_view = Line {
            method: &line.name,
            cells,
        };
        match directions
            .last_mut()
            .filter(|last| last.id == line.direction)
        {
            Some(last) => last.lines.push(line_view),
            None => directions.push(DirectionLines {
                id: line.direction,
                words: match line.direction {
                    "C2S" => "client to server",
                    _ => "server to client",
                },
                lines: vec![line_view],
            }),
        }
    }
    for direction in &mut directions {
        direction
            .lines
            .sort_by_key(|line| Reverse(gravity(&line.cells)));
    }
    directions
}

/// How often a message had changes of each level, the worst first, and how many in all.
fn gravity(cells: &[Cell]) -> (Vec<usize>, usize) {
    let often = Level::ALL.iter().map(|level| {
        let here = cells.iter().filter(|cell| cell.level == Some(level.id()));
        here.count()
    });
    (often.collect(), cells.iter().map(|cell| cell.count).sum())
}

/// The worst level and the number of changes, by pair, direction of the request and method.
type Impact<'d> = BTreeMap<(usize, &'static str, &'d str), (Level, usize)>;

fn impact(diffs: &[Diff]) -> Impact<'_> {
    let mut impact = Impact::new();
    for (index, diff) in diffs.iter().enumerate() {
        for row in &diff.rows {
            let exchanges: BTreeSet<(&'static str, &str)> = row
                .paths
                .iter()
                .map(|path| (asked_by(path), path.method.as_str()))
                .collect();
            for (direction, method) in exchanges {
                let entry = impact
                    .entry((index, direction, method))
                    .or_insert((row.level, 0));
                entry.0 = entry.0.max(row.level);
                entry.1 += 1;
            }
        }
    }
    impact
}

/// Who sends the message that a path belongs to: results travel against their requests.
fn asked_by(path: &WirePath) -> &'static str {
    match (direction_id(path.direction), path.part.id()) {
        ("C2S", "result") => "S2C",
        ("S2C", "result") => "C2S",
        (direction, _) => direction,
    }
}

fn cell(index: usize, kind: Option<MethodKind>, impact: Option<&(Level, usize)>) -> Cell {
    Cell {
        channel: kind.map(channel),
        mark: match kind {
            Some(MethodKind::Request) => "●",
            Some(MethodKind::Notification) => "○",
            Some(MethodKind::Input) => "◆",
            None => "",
        },
        level: impact.map(|(level, _)| level.id()),
        count: impact.map_or(0, |(_, count)| *count),
        pair: index.checked_sub(1).filter(|_| impact.is_some()),
    }
}
