//! Diffs as one page of HTML: a matrix of methods by revision, and every change with its shapes and witness.
//!
//! The page is whole in itself: style and script stand in it, and it loads nothing.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::text::{conclusion, headline};
use super::{change_line, grouped, verdict_word};
use crate::Error;
use crate::diff::{
    Channel, Diff, End, History, Kind, Level, Row, Verdict, View, WirePath, direction_id, explain,
};

const PAGE: &str = include_str!("../../templates/diff/page.html.jinja");
const STYLE: &str = include_str!("../../templates/diff/style.css");
const SCRIPT: &str = include_str!("../../templates/diff/script.js");

#[derive(Serialize)]
struct Page<'d> {
    title: String,
    revisions: &'d [String],
    directions: Vec<DirectionLines<'d>>,
    pairs: Vec<Pair<'d>>,
    levels: Vec<Chip>,
    kinds: Vec<Chip>,
    total: usize,
}

#[derive(Serialize)]
struct DirectionLines<'d> {
    id: &'static str,
    words: &'static str,
    lines: Vec<Line<'d>>,
}

#[derive(Serialize)]
struct Line<'d> {
    method: &'d str,
    cells: Vec<Cell>,
}

/// A message in one revision, and what happened to it on the way there.
#[derive(Serialize)]
struct Cell {
    channel: Option<&'static str>,
    mark: &'static str,
    level: Option<&'static str>,
    count: usize,
    pair: Option<usize>,
}

#[derive(Serialize)]
struct Chip {
    id: &'static str,
    count: usize,
    hint: &'static str,
}

#[derive(Serialize)]
struct Pair<'d> {
    index: usize,
    old: &'d str,
    new: &'d str,
    headline: String,
    conclusion: String,
    notes: &'d [String],
    bar: Vec<Bar>,
    groups: Vec<Rows<'d>>,
    ignored: Vec<(String, &'d str)>,
}

#[derive(Serialize)]
struct Bar {
    level: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct Rows<'d> {
    title: String,
    is_method: bool,
    rows: Vec<Card<'d>>,
}

#[derive(Serialize)]
struct Card<'d> {
    id: String,
    fingerprint: &'d str,
    level: &'static str,
    kind: &'static str,
    main: Option<PathView>,
    subject: &'d str,
    more: usize,
    change: String,
    directions: String,
    methods: String,
    paths: Vec<String>,
    from: Vec<String>,
    before: Option<ShapeView<'d>>,
    after: Option<ShapeView<'d>>,
    verdicts: [VerdictView; 2],
    on_the_wire: bool,
    witnesses: Vec<WitnessView>,
    rule: Option<&'d str>,
    errata: String,
    places: String,
    page: Option<&'d str>,
    level_reason: Option<&'d str>,
    crate_change: &'static str,
    means: &'static str,
    todo: &'static str,
}

/// A wire path in its parts.
#[derive(Serialize)]
struct PathView {
    direction: &'static str,
    method: String,
    part: &'static str,
    path: String,
}

/// A shape and what is said above it.
#[derive(Serialize)]
struct ShapeView<'d> {
    caption: String,
    outline: &'d str,
}

impl<'d> ShapeView<'d> {
    fn of(view: &'d View) -> Self {
        let presence = view.required.map(|required| if required { "required" } else { "optional" });
        // A shape that has no name says nothing above that it does not say below.
        let named = view.text.chars().all(|letter| letter.is_alphanumeric()) && view.text != view.outline;
        let name = Some(view.text.as_str()).filter(|_| named && !view.pointer.is_empty());
        let words: Vec<&str> = presence.into_iter().chain(name).collect();
        Self {
            caption: words.join(" "),
            outline: &view.outline,
        }
    }
}

#[derive(Serialize)]
struct VerdictView {
    from: &'static str,
    to: &'static str,
    word: &'static str,
}

#[derive(Serialize)]
struct WitnessView {
    sender: &'static str,
    refuses: &'static str,
    part: &'static str,
    json: String,
}

/// The page of a history; that of one pair is a history of two.
///
/// # Errors
/// [`Error::Emit`] when the template fails, which would be a defect.
pub fn render(history: &History) -> Result<String, Error> {
    let failed = |error: minijinja::Error| Error::Emit {
        step: "minijinja",
        problem: error.to_string().into(),
    };
    let mut templates = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(failed)?;
    templates.set_syntax(syntax);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.add_template("page.html", PAGE).map_err(failed)?;
    templates.add_global("style", Value::from_safe_string(STYLE.to_owned()));
    templates.add_global("script", Value::from_safe_string(SCRIPT.to_owned()));
    let page = templates.get_template("page.html").map_err(failed)?;
    page.render(Value::from(Serde(self::page(history)))).map_err(failed)
}

fn page(history: &History) -> Page<'_> {
    let History { revisions, methods, diffs } = history;
    let rows = || diffs.iter().flat_map(|diff| &diff.rows);
    let title = match (revisions.as_slice(), diffs.len()) {
        ([old, new], 1) => format!("MCP {old} → {new}"),
        _ => "MCP, revision by revision".to_owned(),
    };
    let levels = Level::ALL.iter().map(|level| Chip {
        id: level.id(),
        count: rows().filter(|row| row.level == *level).count(),
        hint: hint(*level),
    });
    let kinds = Kind::ALL.iter().map(|kind| Chip {
        id: kind.id(),
        count: rows().filter(|row| row.kind == *kind).count(),
        hint: explain(*kind).means,
    });
    let impact = impact(diffs);
    let mut directions: Vec<DirectionLines<'_>> = Vec::new();
    for line in methods {
        let cells = (line.channels.iter().enumerate())
            .map(|(index, channel)| {
                let key = (index.wrapping_sub(1), line.direction, line.name.as_str());
                cell(index, *channel, impact.get(&key))
            })
            .collect();
        let line_view = Line { method: &line.name, cells };
        match directions.last_mut().filter(|last| last.id == line.direction) {
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
    Page {
        title,
        revisions,
        directions,
        pairs: diffs.iter().enumerate().map(|(index, diff)| pair(index, diff)).collect(),
        levels: levels.filter(|chip| chip.count > 0).collect(),
        kinds: kinds.filter(|chip| chip.count > 0).collect(),
        total: rows().count(),
    }
}

/// The worst level and the number of changes, by pair, direction of the request and method.
type Impact<'d> = BTreeMap<(usize, &'static str, &'d str), (Level, usize)>;

fn impact(diffs: &[Diff]) -> Impact<'_> {
    let mut impact = Impact::new();
    for (index, diff) in diffs.iter().enumerate() {
        for row in &diff.rows {
            let exchanges: std::collections::BTreeSet<(&'static str, &str)> =
                row.paths.iter().map(|path| (asked_by(path), path.method.as_str())).collect();
            for (direction, method) in exchanges {
                let entry = impact.entry((index, direction, method)).or_insert((row.level, 0));
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

fn cell(index: usize, channel: Option<Channel>, impact: Option<&(Level, usize)>) -> Cell {
    Cell {
        channel: channel.map(Channel::id),
        mark: match channel {
            Some(Channel::Request) => "●",
            Some(Channel::Notification) => "○",
            Some(Channel::Input) => "◆",
            None => "",
        },
        level: impact.map(|(level, _)| level.id()),
        count: impact.map_or(0, |(_, count)| *count),
        pair: index.checked_sub(1).filter(|_| impact.is_some()),
    }
}

fn hint(level: Level) -> &'static str {
    match level {
        Level::Breaking => "there is a text that one side sends and the other refuses",
        Level::Risky => "valid, and yet something that worked is understood no more, or differently",
        Level::Compatible => "old peers miss what is new, and nothing else",
        Level::Representation => "names: nothing on the wire",
    }
}

fn pair(index: usize, diff: &Diff) -> Pair<'_> {
    let summary = diff.summary();
    let groups = grouped(diff).into_iter().map(|group| Rows {
        is_method: !group.title.contains(' '),
        title: group.title,
        rows: group.rows.into_iter().map(|row| card(index, row)).collect(),
    });
    let bar = Level::ALL.iter().map(|level| Bar {
        level: level.id(),
        count: diff.rows.iter().filter(|row| row.level == *level).count(),
    });
    let ignored = diff.ignored.iter().map(|ignored| {
        let path = ignored.row.paths.first().map(ToString::to_string).unwrap_or_default();
        (format!("{} {path}", ignored.row.kind), ignored.reason.as_str())
    });
    Pair {
        index,
        old: &diff.old,
        new: &diff.new,
        headline: headline(diff, &summary),
        conclusion: conclusion(&summary),
        notes: &diff.notes,
        bar: bar.filter(|part| part.count > 0).collect(),
        groups: groups.collect(),
        ignored: ignored.collect(),
    }
}

fn card(pair: usize, row: &Row) -> Card<'_> {
    let main = if row.to.is_empty() { &row.paths } else { &row.to };
    let list = |paths: &[WirePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut directions: Vec<&str> = row.paths.iter().map(|path| direction_id(path.direction)).collect();
    directions.sort_unstable();
    directions.dedup();
    let mut methods: Vec<&str> = row.methods().collect();
    methods.sort_unstable();
    methods.dedup();
    let told = explain(row.kind);
    let places: Vec<String> = (row.places.iter())
        .map(|place| match (place.old.as_str(), place.new.as_str()) {
            (old, new) if old == new => old.to_owned(),
            ("", new) => new.to_owned(),
            (old, "") => old.to_owned(),
            (old, new) => format!("{old} → {new}"),
        })
        .filter(|place| !place.is_empty())
        .collect();
    Card {
        id: format!("p{pair}-{}", row.fingerprint),
        fingerprint: &row.fingerprint,
        level: row.level.id(),
        kind: row.kind.id(),
        main: main.first().map(|path| PathView {
            direction: direction_id(path.direction),
            method: path.method.clone(),
            part: path.part.id(),
            path: path.path.clone(),
        }),
        subject: row.subject.as_deref().unwrap_or_default(),
        more: main.len().saturating_sub(1),
        change: change_line(row),
        directions: directions.join(" "),
        methods: methods.join(" "),
        paths: list(main),
        from: list(&row.from),
        before: row.before.as_ref().map(ShapeView::of),
        after: row.after.as_ref().map(ShapeView::of),
        verdicts: [
            verdict("old", "new", row.verdicts.old_to_new),
            verdict("new", "old", row.verdicts.new_to_old),
        ],
        on_the_wire: row.kind.is_on_the_wire(),
        witnesses: row.witnesses.iter().map(|witness| WitnessView {
            sender: if witness.valid_in == End::Old { "an old" } else { "a new" },
            refuses: if witness.valid_in == End::Old { "new" } else { "old" },
            part: witness.part.id(),
            json: serde_json::to_string_pretty(&witness.json).unwrap_or_default(),
        }).collect(),
        rule: row.rule.as_deref(),
        errata: row.errata.join(", "),
        places: places.join(", "),
        page: row.page.as_deref(),
        level_reason: row.level_reason.as_deref(),
        crate_change: row.crate_change.id(),
        means: told.means,
        todo: told.todo,
    }
}

fn verdict(from: &'static str, to: &'static str, verdict: Verdict) -> VerdictView {
    VerdictView {
        from,
        to,
        word: verdict_word(verdict),
    }
}
