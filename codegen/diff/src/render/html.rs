//! Diffs as one page of HTML: a matrix of methods by revision, and every change with its shapes and witness.
//!
//! The page is whole in itself: style and script stand in it, and it loads nothing.

mod card;
mod matrix;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, HtmlEscape, UndefinedBehavior, Value, context};

use super::brief::brief;
use super::text::{conclusion, headline};
use super::themes::themes;
use crate::{ChangeKind, ChangeLevel, Diff, SchemaHistory};
use mcp_revisions_schema::Error;

const PAGE: &str = include_str!("../../templates/page.html.jinja");
const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");

/// Renders the page of a history; that of one pair is a history of two. Fails for a template that fails, which would be a
/// defect.
pub fn render(history: &SchemaHistory) -> Result<String, Error> {
    let failed = |error: minijinja::Error| Error::defect("minijinja", error);
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(failed)?;
    templates.set_syntax(syntax);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.add_filter("coded", coded);
    templates.add_template("page.html", PAGE).map_err(failed)?;
    templates.add_global("style", Value::from_safe_string(STYLE.to_owned()));
    templates.add_global("script", Value::from_safe_string(SCRIPT.to_owned()));
    let page = templates.get_template("page.html").map_err(failed)?;
    page.render(self::page(history)).map_err(failed)
}

fn page(history: &SchemaHistory) -> Value {
    let SchemaHistory {
        revisions,
        methods,
        diffs,
    } = history;
    let rows = || diffs.iter().flat_map(|diff| &diff.rows);
    let title = match (revisions.as_slice(), diffs.len()) {
        ([old, new], 1) => format!("MCP {old} → {new}"),
        _ => "MCP, revision by revision".to_owned(),
    };
    // The gravest step is the one that most readers come for.
    let breaking = |diff: &Diff| {
        let rows = diff.rows.iter();
        rows.filter(|row| row.level == ChangeLevel::Breaking)
            .count()
    };
    let gravest = (0..diffs.len()).max_by_key(|index| breaking(&diffs[*index]));
    let levels = ChangeLevel::ALL.iter().map(|level| {
        let count = rows().filter(|row| row.level == *level).count();
        (level.as_str(), count, hint(*level))
    });
    let kinds = ChangeKind::ALL.iter().map(|kind| {
        let count = rows().filter(|row| row.kind == *kind).count();
        (kind.id(), count, kind.explain().means)
    });
    context! {
        title,
        revisions,
        directions => matrix::lines(methods, diffs),
        pairs => diffs
            .iter()
            .enumerate()
            .map(|(index, diff)| pair(index, Some(index) == gravest, diff))
            .collect::<Value>(),
        levels => chips(levels),
        kinds => chips(kinds),
        total => rows().count(),
        // The changes of the step that has most: the length of a full bar.
        most => diffs.iter().map(|diff| diff.rows.len()).max(),
    }
}

/// Returns the buttons of a filter: each id that occurs, how often it does, and what it means.
fn chips(all: impl Iterator<Item = (&'static str, usize, &'static str)>) -> Value {
    let there = all.filter(|(_, count, _)| *count > 0);
    there
        .map(|(id, count, hint)| context! { id, count, hint })
        .collect()
}

fn hint(level: ChangeLevel) -> &'static str {
    match level {
        ChangeLevel::Breaking => "a message exists that one side sends and the other rejects",
        ChangeLevel::Risky => {
            "nothing is rejected, but something that worked is ignored or understood differently"
        }
        ChangeLevel::Compatible => {
            "what both revisions have still works; old peers miss what is new"
        }
        ChangeLevel::Representation => "names: nothing on the wire",
    }
}

fn pair(index: usize, open: bool, diff: &Diff) -> Value {
    let summary = diff.summary();
    let headline = headline(diff, &summary);
    // Links to it and into it begin with this id.
    let id = link(&format!("{}..{}", diff.old, diff.new));
    let groups: Value = themes(diff)
        .into_iter()
        .map(|theme| {
            let cards: Value = theme
                .changes
                .iter()
                .map(|change| card::of(&id, diff, change))
                .collect();
            (theme.id, cards)
        })
        .collect();
    let ignored = diff.ignored.iter().map(|ignored| {
        let path = ignored.row.paths.first().map(ToString::to_string);
        let what = format!("{} {}", ignored.row.kind, path.unwrap_or_default());
        (what, ignored.reason.as_str())
    });
    context! {
        index,
        id,
        // Set if its summary is open from the start.
        open,
        brief => Serde(brief(diff)),
        old => &diff.old,
        new => &diff.new,
        headline => headline.split_once(": ").map_or("", |(_, rest)| rest),
        conclusion => conclusion(&summary),
        notes => diff.uncompared.iter().map(|what| format!("Not compared: {what}")).chain(diff.notes.iter().cloned()).collect::<Vec<_>>(),
        bar => Serde(&summary.levels),
        rows => diff.rows.len(),
        // The themes, each with its changes.
        groups,
        prose => Serde(super::prose_groups(diff)),
        ignored => ignored.collect::<Value>(),
    }
}

/// Returns words as HTML, what stands between backticks as code.
fn coded(words: &str) -> Value {
    let parts = words.split('`').enumerate();
    let last = words.matches('`').count();
    let html = parts.map(|(at, part)| {
        let part = HtmlEscape(part).to_string();
        if at % 2 == 0 {
            part
        } else if at < last {
            format!("<code>{part}</code>")
        } else {
            format!("`{part}")
        }
    });
    Value::from_safe_string(html.collect())
}

/// Returns a label as a part of a link: the same from one page to the next.
fn link(label: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    label.replace(|letter| !plain(letter), "-")
}
