//! A diff as Markdown: a changelog to paste into release notes.

use std::fmt::Write;

use super::brief::brief;
use super::text::conclusion;
use super::themes::{ThemeChange, themes};
use super::{one_line, prose_groups, verdict_word};
use crate::words::counted;
use crate::{ChangeLevel, Diff, Prose};
use mcp_revisions_schema::naming::capitalized;

/// Maximum number of wire paths of a row that are spelled out.
const SHOWN_PATHS: usize = 4;

/// Maximum number of breaking changes outside of the folded part: with the summary they fit one screen.
const MAX_UNFOLDED: usize = 8;

/// Renders the changelog of a diff.
pub fn render(diff: &Diff) -> String {
    let Diff { old, new, raw, .. } = diff;
    let summary = diff.summary();
    let raw = if *raw { ", schemas as published" } else { "" };
    let (old, new) = (escaped(old), escaped(new));
    let mut text = format!("## MCP {old} → {new}{raw}\n\n");
    for what in &diff.uncompared {
        let _ = writeln!(text, "> **Not compared:** {}\n", escaped(what));
    }
    if summary.rows == 0 {
        let hidden = match diff.hidden {
            0 => "",
            _ => " of those asked for",
        };
        let known = match summary.ignored {
            0 => String::new(),
            ignored => format!(" beside {} that are ignored", counted(ignored, "change")),
        };
        let _ = writeln!(text, "No change{hidden}{known}.");
    } else {
        for mut line in brief(diff) {
            for item in &mut line.items {
                (item.before, item.after) = (escaped(&item.before), escaped(&item.after));
            }
            let _ = writeln!(text, "- **{}:** {}", line.head, line.words(code));
        }
        text.push_str("\n| level | changes |\n|---|---|\n");
        for count in &summary.levels {
            let _ = writeln!(text, "| {} | {} |", count.id, count.rows);
        }
        let _ = writeln!(text, "\n{}.", conclusion(&summary));
    }
    if diff.hidden > 0 {
        let _ = writeln!(text, "{} further changes were not asked for.", diff.hidden);
    }
    let themes = themes(diff);
    let is_breaking = |change: &&ThemeChange<'_>| change.lead().level == ChangeLevel::Breaking;
    let breaking = themes
        .iter()
        .flat_map(|theme| &theme.changes)
        .filter(is_breaking);
    let is_short = breaking.count() <= MAX_UNFOLDED;
    for theme in themes {
        let title = capitalized(&theme.id);
        let (breaking, others): (Vec<_>, Vec<_>) = theme.changes.iter().partition(is_breaking);
        let [of_breaking, of_others] = [breaking.len(), others.len()];
        let (open, folded) = if is_short {
            (breaking, others)
        } else {
            (Vec::new(), breaking.into_iter().chain(others).collect())
        };
        if !open.is_empty() {
            let _ = writeln!(text, "\n### {}\n", escaped(&title));
        }
        for change in open {
            entry(&mut text, diff, change);
        }
        if !folded.is_empty() {
            let counts = match (is_short, of_breaking) {
                (true, _) | (_, 0) => {
                    format!("{} not breaking", counted(of_others, "change"))
                }
                (false, _) if of_others == 0 => format!("{of_breaking} breaking"),
                (false, _) => format!("{of_breaking} breaking, {of_others} not"),
            };
            let title = in_html(&title);
            let _ = writeln!(text, "\n<details><summary>{title}: {counts}</summary>\n");
            for change in folded {
                entry(&mut text, diff, change);
            }
            text.push_str("\n</details>\n");
        }
    }
    if !diff.prose.is_empty() {
        let count = counted(diff.prose.len(), "change");
        let _ = writeln!(
            text,
            "\n<details><summary>Pages: {count} that no schema shows</summary>\n"
        );
        for (group, changes) in prose_groups(diff) {
            let _ = writeln!(text, "- {}", capitalized(&group));
            for Prose { id, says, page, .. } in changes {
                let (says, page) = (one_line(says), one_line(page));
                let _ = writeln!(text, "  - {}: {says} ({page})", code(id));
            }
        }
        text.push_str("\n</details>\n");
    }
    for note in &diff.notes {
        let _ = writeln!(text, "\n> {}", escaped(note));
    }
    text
}

fn entry(text: &mut String, diff: &Diff, change: &ThemeChange<'_>) {
    let row = change.lead();
    let mark = match row.level {
        ChangeLevel::Breaking => "**breaking**",
        ChangeLevel::Risky => "*risky*",
        ChangeLevel::Compatible => "compatible",
        ChangeLevel::Representation => "name",
    };
    let written = change.written();
    let first = match written.first() {
        Some((path, remark)) => code(path) + &escaped(remark),
        None => code(row.subject.as_deref().unwrap_or_default()),
    };
    let _ = write!(text, "- {mark} `{}` {first}", row.kind);
    let shown = if change.is_of_messages() {
        written.len()
    } else {
        SHOWN_PATHS
    };
    for (path, remark) in written.iter().take(shown).skip(1) {
        let _ = write!(text, ", {}{}", code(path), escaped(remark));
    }
    if written.len() > shown {
        let _ = write!(text, " and {} more", written.len() - shown);
    }
    if let Some(from) = change.from().next() {
        let _ = write!(text, ", before at {}", code(&from.to_string()));
    }
    let said = change.line();
    if !said.is_empty() {
        let view = row.before.as_ref().or(row.after.as_ref());
        let shown = if view.is_some_and(|view| view.pointer.is_empty()) {
            escaped(&said)
        } else {
            code(&said)
        };
        let _ = write!(text, ": {shown}");
    }
    text.push('\n');
    if row.level >= ChangeLevel::Risky {
        let [up, down] = [row.verdicts.old_to_new, row.verdicts.new_to_old].map(verdict_word);
        let _ = writeln!(
            text,
            "  - old sender to new receiver: {up}; new sender to old receiver: {down}"
        );
    }
    for witness in &row.witnesses {
        let sender = witness.valid_in.of("an old", "a new");
        let json = code(&short(&witness.json.to_string()));
        let of = match &*witness.method {
            "*" => witness.part.to_string(),
            method => format!("{} of {}", witness.part, code(method)),
        };
        let _ = writeln!(text, "  - {sender} sender may send this {of}: {json}");
    }
    let ids: Vec<String> = change.fingerprints().map(code).collect();
    let mut source = vec![format!("fingerprint {}", ids.join(" "))];
    source.extend(row.page.as_ref().map(|page| format!("page {}", code(page))));
    let place = diff.location(row);
    source.extend(place.map(|(file, line)| code(&format!("{file}:{line}"))));
    let _ = writeln!(text, "  - {}", source.join("; "));
}

/// Puts a text between backticks; backticks and line breaks within it stay part of it.
fn code(text: &str) -> String {
    let text = one_line(text);
    let mut fence = String::from("`");
    while text.contains(&fence) {
        fence.push('`');
    }
    if text.starts_with('`') || text.ends_with('`') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Words, with what Markdown would take for markup escaped.
fn escaped(text: &str) -> String {
    let text = one_line(text);
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '<' | '*' | '_' | '`' | '[' | ']' | '|' | '\\') {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

/// Words within HTML, where Markdown escapes nothing.
fn in_html(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

fn short(text: &str) -> String {
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
