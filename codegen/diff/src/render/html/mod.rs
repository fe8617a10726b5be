//! Diffs as one page of HTML: a matrix of methods by revision, and every change with its shapes and witness.
//!
//! The page is whole in itself: style and script stand in it, and it loads nothing.

mod card;
mod matrix;
mod source;
mod tree;

use mcp_revisions_schema::sorted::SortedMap;
use mcp_wire::harmless;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, HtmlEscape, UndefinedBehavior, Value, context};

use super::brief::brief;
use super::text::{conclusion, headline};
use super::themes::themes;
use crate::{ChangeKind, ChangeLevel, Diff, SchemaHistory};
use mcp_revisions_schema::Error;

const PAGE: &str = include_str!("../../../templates/page.html.jinja");
const MATRIX: &str = include_str!("../../../templates/matrix.html.jinja");
const STYLE: &str = include_str!("../../../templates/style.css");
const SCRIPT: &str = include_str!("../../../templates/script.js");

/// The links that the page of a diff has to pages around it.
#[derive(Debug, Default)]
pub struct PageLinks {
    /// The names of other pages, with their URLs.
    pub pages: Vec<(String, String)>,
    /// The URL of the page of conversion rules.
    pub rules_page: String,
    /// The anchors on that page, such as `2024-11-05..2025-03-26.audio-block`, each with what a conversion by the rule loses.
    pub rules: SortedMap<String, String>,
}

impl PageLinks {
    /// Returns a rule that a change meets in a step, which is the whole diff without a name, with its link and its loss.
    fn rule(&self, diff: &Diff, step: &str, name: &str) -> Value {
        let whole = format!("{}..{}", diff.old, diff.new);
        let anchor = format!("{}.{name}", if step.is_empty() { &whole } else { step });
        let loss = self.rules.get(&anchor);
        let link = loss.map(|_| format!("{}#{anchor}", self.rules_page));
        context! { name, link, loss }
    }
}

/// Renders the page of a history by itself; that of one pair is a history of two. Returns an error if a template fails, which would
/// be a defect.
pub fn render(history: &SchemaHistory) -> Result<String, Error> {
    render_among(history, &PageLinks::default())
}

/// Renders the page of a history among other pages. Fails as [`render`] does.
pub fn render_among(history: &SchemaHistory, links: &PageLinks) -> Result<String, Error> {
    let templates = templates()?;
    let matrix = matrix(&templates, history, &[])?;
    render_template(&templates, "page.html", page(history, links, matrix))
}

/// Returns the templates of pages, with the filter `coded` and the globals `style` and `script`; a caller adds its own.
pub fn templates() -> Result<Environment<'static>, Error> {
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
    templates
        .add_template("matrix.html", MATRIX)
        .map_err(failed)?;
    templates.add_global("style", Value::from_safe_string(STYLE.to_owned()));
    templates.add_global("script", Value::from_safe_string(SCRIPT.to_owned()));
    Ok(templates)
}

/// Renders the matrix of methods by revision, as markup. A cell links to the page of its step, by the URLs in `steps`; without
/// them it is a button that filters the page that it stands on.
pub fn matrix(
    templates: &Environment<'_>,
    history: &SchemaHistory,
    steps: &[String],
) -> Result<Value, Error> {
    let values = context! {
        revisions => &history.revisions,
        directions => matrix::lines(&history.methods, &history.diffs),
        steps => steps.iter().collect::<Value>(),
    };
    render_template(templates, "matrix.html", values).map(Value::from_safe_string)
}

/// Renders a template; a letter of its values that steers what reads it is shown as an escape.
pub fn render_template(
    templates: &Environment<'_>,
    name: &str,
    values: Value,
) -> Result<String, Error> {
    let template = templates.get_template(name).map_err(failed)?;
    let text = template.render(values).map_err(failed)?;
    // A slash means nothing in a text and in a quoted attribute, and paths are full of them.
    let shorter = text.replace("&#x2f;", "/");
    Ok(harmless(&shorter, |_| false).into_owned())
}

fn failed(error: minijinja::Error) -> Error {
    Error::defect("minijinja", error)
}

fn page(history: &SchemaHistory, links: &PageLinks, matrix: Value) -> Value {
    let SchemaHistory {
        revisions, diffs, ..
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
        matrix,
        pages => &links.pages,
        pairs => diffs
            .iter()
            .enumerate()
            .map(|(index, diff)| pair(index, Some(index) == gravest, diff, links))
            .collect::<Value>(),
        levels => chips(levels),
        kinds => chips(kinds),
        subjects => card::SUBJECTS.map(|(id, hint)| context! { id, hint }),
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

fn pair(index: usize, open: bool, diff: &Diff, links: &PageLinks) -> Value {
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
                .map(|change| card::of(&id, diff, change, links))
                .collect();
            (theme.id, cards)
        })
        .collect();
    let ignored = diff.ignored.iter().map(|ignored| {
        let path = ignored.row.paths.first().map(ToString::to_string);
        let what = format!("{} {}", ignored.row.kind, path.unwrap_or_default());
        (what, ignored.reason.as_str())
    });
    let (tree, prose) = (tree::exchanges(&id, diff), prose(&id, diff));
    context! {
        index,
        id,
        tree,
        prose,
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
        roles => Serde(&summary.roles),
        // The themes, each with its changes.
        groups,
        ignored => ignored.collect::<Value>(),
    }
}

/// Returns the changes of the pages, by the peers and the transport that they bind.
fn prose(pair: &str, diff: &Diff) -> Value {
    let groups = super::prose_groups(diff).into_iter();
    groups
        .map(|(group, changes)| {
            let listed = changes.into_iter().map(|change| {
                let is_sign_in = source::is_about_sign_in(&change.page);
                let subject = if is_sign_in { "sign-in" } else { "pages" };
                context! {
                    anchor => format!("{pair}.{}.{}", link(&change.step), link(&change.id)),
                    id => &change.id,
                    says => &change.says,
                    page => &change.page,
                    source => source::of_page(diff, &change.page),
                    subject,
                }
            });
            (group, listed.collect::<Value>())
        })
        .collect()
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
