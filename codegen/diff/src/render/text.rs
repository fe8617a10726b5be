//! A diff as text: a summary that can be sent on, then the changes by theme.

use mcp_revisions_schema::sorted::SortedMap;
use std::fmt::Write;

use super::brief::brief;
use super::themes::{ThemeChange, themes};
use super::{one_line, prose_groups, rules_words, verdict_word};
use crate::words::{counted, joined};
use crate::{ChangeKind, ChangeLevel, Diff, DiffRow, Prose, Summary};

/// The layout of a text.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextOptions {
    /// With the colours of a terminal.
    pub colour: bool,
    /// With every wire path of a row.
    pub paths: bool,
    /// With the witness of every breaking row.
    pub witnesses: bool,
    /// With the summary and the breaking changes only; the others are counted.
    pub only_breaking: bool,
    /// Without the fingerprints of changes.
    pub without_fingerprints: bool,
    /// The columns of a line [default: 119].
    pub width: Option<usize>,
}

/// Maximum number of wire paths shown of a row, if not all are asked for.
const SHOWN_PATHS: usize = 2;

/// The columns of a line, if nothing is known of the terminal.
const WIDTH: usize = 119;

/// The columns before the facts of a change.
const FACTS: usize = 17;

/// The columns before the words of a summary.
const HEAD: usize = 19;

/// The fewest columns that words are wrapped to.
const LEAST: usize = 40;

/// Maximum number of rows named that are set aside for one reason.
const SHOWN_ASIDE: usize = 5;

/// Number of fingerprints on a line.
const IDS_A_LINE: usize = 6;

const BOLD: &str = "1";
const DIM: &str = "2";

/// Renders the text of a diff.
pub fn render(diff: &Diff, options: TextOptions) -> String {
    let mut writer = TextReport {
        text: String::new(),
        options,
    };
    writer.diff(diff);
    writer.text
}

/// Returns the first line: what changed, in numbers.
pub fn headline(diff: &Diff, summary: &Summary) -> String {
    let Diff { old, new, .. } = diff;
    let raw = if diff.raw { " (without errata)" } else { "" };
    let hidden = match diff.hidden {
        0 => String::new(),
        hidden => format!(" ({hidden} more that were not asked for)"),
    };
    if summary.rows == 0 {
        let what = match diff.hidden {
            0 => "no change",
            _ => "no change of those asked for",
        };
        let known = match summary.ignored {
            0 => String::new(),
            ignored => format!(" beside {} that are ignored", counted(ignored, "change")),
        };
        return format!("{old} -> {new}{raw}: {what}{known}{hidden}");
    }
    let levels = summary
        .levels
        .iter()
        .map(|count| format!("{} {}", count.rows, count.id));
    format!(
        "{old} -> {new}{raw}: {} on {}: {}{hidden}",
        counted(summary.rows, "change"),
        counted(summary.wire_paths, "wire path"),
        joined(levels, ", ")
    )
}

/// Returns the second line: what it comes to, on both axes.
pub fn conclusion(summary: &Summary) -> String {
    let rows = |count: usize| counted(count, "change");
    let refused = [summary.old_sender_refused, summary.new_sender_refused].map(rows);
    let mut text = match (summary.wire, summary.crate_change) {
        (None, _) => return String::new(),
        (Some(wire), Some(of_crate)) => format!(
            "wire: {wire} (new receivers reject old senders in {}, old receivers reject new senders in {}); generated crate: {of_crate} ({})",
            refused[0],
            refused[1],
            rows(summary.crate_rows)
        ),
        (Some(worst), None) => format!(
            "{worst}: the new server rejects calls for the old one in {}, readers of the old one's results reject new ones in {}",
            refused[0], refused[1],
        ),
    };
    if summary.ignored > 0 {
        let _ = write!(text, "; {} ignored", summary.ignored);
    }
    text
}

struct TextReport {
    text: String,
    options: TextOptions,
}

impl TextReport {
    fn paint(&self, code: &str, text: &str) -> String {
        let text = one_line(text);
        if self.options.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.into_owned()
        }
    }

    /// Returns the columns that are left beside a margin.
    fn beside(&self, margin: usize) -> usize {
        let width = self.options.width.unwrap_or(WIDTH);
        width.saturating_sub(margin).max(LEAST)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        let title = self.paint(BOLD, title);
        self.line("");
        self.line(&title);
    }

    fn diff(&mut self, diff: &Diff) {
        let summary = diff.summary();
        let headline = self.paint(BOLD, &headline(diff, &summary));
        self.line(&headline);
        if summary.rows > 0 {
            self.line(&conclusion(&summary));
        }
        for what in &diff.uncompared {
            let head = self.paint(BOLD, "not compared: ");
            self.hanging(&head, 14, &one_line(what));
        }
        self.brief(diff);
        let mut others = 0;
        for theme in themes(diff) {
            let is_shown = |change: &&ThemeChange<'_>| {
                !self.options.only_breaking || change.lead().level == ChangeLevel::Breaking
            };
            let shown: Vec<&ThemeChange<'_>> = theme.changes.iter().filter(is_shown).collect();
            others += theme.changes.len() - shown.len();
            if shown.is_empty() {
                continue;
            }
            self.title(&theme.id);
            for change in shown {
                self.change(diff, change);
            }
        }
        if others > 0 {
            self.line("");
            let plural = if others == 1 { "y" } else { "ies" };
            self.line(&format!("{others} more entr{plural}: -v shows all"));
        }
        if !self.options.only_breaking {
            self.prose(diff);
        }
        let mut aside: SortedMap<&str, Vec<&DiffRow>> = SortedMap::new();
        for ignored in &diff.ignored {
            aside.entry(&ignored.reason).or_default().push(&ignored.row);
        }
        if !aside.is_empty() {
            self.title("ignored");
        }
        for (reason, rows) in aside {
            for row in rows.iter().take(SHOWN_ASIDE) {
                let path = row.paths.first().map(ToString::to_string);
                let (kind, path, id) = (row.kind, path.unwrap_or_default(), &row.fingerprint);
                let line = format!("{kind}  {path}  {id}: {reason}");
                self.line(&format!("  {}", one_line(&line)));
            }
            if rows.len() > SHOWN_ASIDE {
                let more = rows.len() - SHOWN_ASIDE;
                self.line(&format!("  {more} more: {}", one_line(reason)));
            }
        }
        if !diff.notes.is_empty() {
            self.line("");
        }
        for note in &diff.notes {
            self.hanging("note: ", 6, &one_line(note));
        }
    }

    /// Writes the changes that only the specification's pages state.
    fn prose(&mut self, diff: &Diff) {
        if diff.prose.is_empty() {
            return;
        }
        self.title("what the pages say and no schema shows");
        for (group, changes) in prose_groups(diff) {
            self.line(&format!("  {group}"));
            for Prose { id, says, page, .. } in changes {
                let head = format!("    {id:<28} ");
                self.hanging(&head, 33, &format!("{says} ({page})"));
            }
        }
    }

    fn brief(&mut self, diff: &Diff) {
        let lines = brief(diff);
        if lines.is_empty() {
            return;
        }
        self.line("");
        for line in lines {
            let head = self.paint(BOLD, &format!("{:<HEAD$}", line.head));
            self.hanging(&head, HEAD, &line.words(str::to_owned));
        }
    }

    /// Words in several lines: a head stands before the first, and a margin before the others.
    fn hanging(&mut self, head: &str, margin: usize, words: &str) {
        let parts = wrapped(&one_line(words), self.beside(margin));
        for (number, part) in parts.iter().enumerate() {
            match number {
                0 => self.line(&format!("{head}{part}")),
                _ => self.line(&format!("{:margin$}{part}", "")),
            }
        }
    }

    /// Returns the first few wire paths, and how many more there are.
    fn some_of(&self, paths: Vec<String>, all: bool) -> Vec<String> {
        let shown = if all || self.options.paths {
            paths.len()
        } else {
            SHOWN_PATHS
        };
        let mut lines: Vec<String> = (paths.iter().take(shown))
            .map(|path| one_line(path).into_owned())
            .collect();
        if let Some(last) = lines.last_mut().filter(|_| paths.len() > shown) {
            let _ = write!(last, "  (+{} more)", paths.len() - shown);
        }
        lines
    }

    fn change(&mut self, diff: &Diff, change: &ThemeChange<'_>) {
        let options = self.options;
        let row = change.lead();
        let colour = match row.level {
            ChangeLevel::Breaking => "31",
            ChangeLevel::Risky => "33",
            ChangeLevel::Compatible => "32",
            ChangeLevel::Representation => DIM,
        };
        let level = self.paint(colour, &format!("{:<15}", row.level));
        let kind = self.paint(BOLD, &format!("{:<22}", row.kind.id()));
        let written = if options.paths {
            change.main().map(ToString::to_string).collect()
        } else {
            (change.written().into_iter())
                .map(|(path, remark)| path + &remark)
                .collect()
        };
        let mut paths = self.some_of(written, change.is_of_messages());
        if row.kind == ChangeKind::MethodAdded {
            shape_of_messages(&mut paths, change);
        }
        let from = self.some_of(change.from().map(ToString::to_string).collect(), false);
        paths.extend(from.into_iter().map(|path| format!("from {path}")));
        let first = paths
            .first()
            .or(row.subject.as_ref())
            .map_or("", String::as_str);
        self.line(&format!("  {level}{kind} {}", one_line(first)));
        for path in paths.iter().skip(1) {
            self.line(&format!("{:40}{path}", ""));
        }
        let line = match (row.kind, options.only_breaking) {
            // Each path has its own.
            (ChangeKind::MethodAdded, _) => String::new(),
            (_, true) => shortened(change.line(), self.beside(FACTS)),
            (_, false) => change.line(),
        };
        let mut facts = vec![line];
        if row.kind.is_on_the_wire() {
            let [up, down] = [row.verdicts.old_to_new, row.verdicts.new_to_old].map(verdict_word);
            facts.push(format!("old->new {up}, new->old {down}"));
        }
        facts.extend(rules_words(diff, change));
        let mut fingerprints: Vec<&str> = if options.without_fingerprints {
            Vec::new()
        } else {
            change.fingerprints().collect()
        };
        if fingerprints.len() == 1 {
            facts.extend(fingerprints.drain(..).map(str::to_owned));
        }
        facts.retain(|fact| !fact.is_empty());
        self.facts(&facts.join("; "));
        for ids in fingerprints.chunks(IDS_A_LINE) {
            self.facts(&ids.join(" "));
        }
        let shown = change.rows().iter().filter(|_| options.witnesses);
        for witness in shown.flat_map(|row| &row.witnesses) {
            let end = witness.valid_in.of("old sender", "new sender");
            let json = witness.json.to_string();
            self.line(&format!("{:FACTS$}{end}: {}", "", one_line(&json)));
        }
    }

    fn facts(&mut self, facts: &str) {
        let facts = one_line(facts);
        let lines = if self.options.only_breaking {
            vec![facts.into_owned()]
        } else {
            wrapped(&facts, self.beside(FACTS))
        };
        for line in lines {
            let line = self.paint(DIM, &line);
            self.line(&format!("{:FACTS$}{line}", ""));
        }
    }
}

/// Writes beside the path of each new message what it holds.
fn shape_of_messages(paths: &mut [String], change: &ThemeChange<'_>) {
    for path in paths {
        let of_path = |row: &&&DiffRow| row.paths.iter().any(|it| it.to_string() == *path);
        let view = change
            .rows()
            .iter()
            .find(of_path)
            .and_then(|row| row.after.as_ref());
        if let Some(view) = view {
            let _ = write!(path, "  {}", one_line(&view.text));
        }
    }
}

/// Returns words in lines of a width; a word that is longer has a line of its own.
pub fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split(' ') {
        let Some(last) = lines.last_mut() else { break };
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Shortens a line to a width; the other formats have all of it.
fn shortened(line: String, width: usize) -> String {
    match line.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}
