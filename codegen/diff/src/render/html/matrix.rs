//! The matrix of the page: which revision has which message, and what happened to it on the way there.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::cmp::Reverse;

use minijinja::{Value, context};

use crate::{ChangeLevel, Diff, ExchangePart, MethodLine, WirePath, channel, direction_id};
use mcp_revisions_schema::model::MethodKind;

/// Returns the lines of the matrix, by direction, those with the gravest changes first.
pub(super) fn lines<'d>(methods: &'d [MethodLine], diffs: &'d [Diff]) -> Value {
    let impact = impact(diffs);
    let of_direction = methods.chunk_by(|a, b| a.direction == b.direction);
    let directions = of_direction.map(|lines| {
        let id = lines.first().map_or("", |line| line.direction);
        // The gravest change of a message on the way to each revision, which has none before the first.
        let met = |line: &'d MethodLine| -> Vec<Option<&(ChangeLevel, usize)>> {
            let key = |index| (index, line.direction, line.name.as_str());
            let steps = (0..line.channels.len()).map(|at| impact.get(&key(at.checked_sub(1)?)));
            steps.collect()
        };
        let mut by_gravity: Vec<_> = lines.iter().map(|line| (line, met(line))).collect();
        by_gravity.sort_by_key(|(_, met)| Reverse(gravity(met)));
        let rows = by_gravity.into_iter().map(|(line, met)| {
            let cells = line
                .channels
                .iter()
                .zip(met)
                .enumerate()
                .map(|(index, (channel, met))| cell(index, *channel, met));
            context! { method => &line.name, cells => cells.collect::<Value>() }
        });
        let words = match id {
            "C2S" => "client to server",
            _ => "server to client",
        };
        context! { id, words, lines => rows.collect::<Value>() }
    });
    directions.collect()
}

/// Returns the number of a message's changes by level, the worst first, and in all.
fn gravity(met: &[Option<&(ChangeLevel, usize)>]) -> (Vec<usize>, usize) {
    let met = || met.iter().copied().flatten();
    let often = ChangeLevel::ALL
        .iter()
        .map(|level| met().filter(|(worst, _)| worst == level).count());
    (often.collect(), met().map(|(_, count)| count).sum())
}

/// The worst level and the number of changes, by pair, direction of the request and method.
type Impact<'d> = SortedMap<(usize, &'static str, &'d str), (ChangeLevel, usize)>;

fn impact(diffs: &[Diff]) -> Impact<'_> {
    let mut impact = Impact::new();
    for (index, diff) in diffs.iter().enumerate() {
        for row in &diff.rows {
            let exchanges = row
                .paths
                .iter()
                .map(|path| (index, asked_by(path), path.method.as_str()));
            for exchange in exchanges.collect::<SortedSet<_>>() {
                let entry = impact.entry(exchange).or_insert((row.level, 0));
                entry.0 = entry.0.max(row.level);
                entry.1 += 1;
            }
        }
    }
    impact
}

/// Returns the sender of the request that a path belongs to: results travel against their requests.
pub(super) fn asked_by(path: &WirePath) -> &'static str {
    direction_id(match path.part {
        ExchangePart::Result | ExchangePart::Response => path.direction.back(),
        _ => path.direction,
    })
}

/// Returns a message in one revision, and what happened to it on the way there.
fn cell(index: usize, kind: Option<MethodKind>, met: Option<&(ChangeLevel, usize)>) -> Value {
    context! {
        channel => kind.map(channel),
        mark => match kind {
            Some(MethodKind::Request) => "●",
            Some(MethodKind::Notification) => "○",
            Some(MethodKind::Input) => "◆",
            None => "",
        },
        level => met.map(|(level, _)| level.as_str()),
        count => met.map_or(0, |(_, count)| *count),
        pair => index.checked_sub(1).filter(|_| met.is_some()),
    }
}
