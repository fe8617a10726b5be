//! A rule file as text with places: its rows and lines, and edits that leave every other byte as it stands.

use std::ops::Range;

use toml_edit::{Document, Item, Table, Value};

use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::rules::{RuleFile, not_toml};
pub(super) use mcp_revisions_schema::spec::toml_text::{key, quoted};

/// A row of an array of tables, or a line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SheetEntry {
    /// The names of the tables that it stands in, outermost first.
    pub(super) table: Vec<String>,
    /// The part that tells it from the entries beside it: the key of a line, the first value of a row.
    pub(super) name: String,
    /// From its header or key to the end of its last value.
    pub(super) span: Range<usize>,
    /// The header of a row, or of the table of a line.
    header: Range<usize>,
    /// Its strings with their keys and places; those of a list have the key of the list.
    pub(super) texts: Vec<(String, String, Range<usize>)>,
}

impl SheetEntry {
    /// Returns the first string under a key.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        let mut texts = self.texts.iter();
        texts.find_map(|(other, text, _)| (other == key).then_some(text.as_str()))
    }

    /// Returns the range of the value of a key, with its quotes.
    pub(super) fn place_of(&self, key: &str) -> Option<Range<usize>> {
        let mut texts = self.texts.iter();
        texts.find_map(|(other, _, place)| (other == key).then(|| place.clone()))
    }

    /// Returns its name in messages: its table and its name.
    pub(super) fn label(&self) -> String {
        if self.table.is_empty() {
            self.name.clone()
        } else {
            format!("[{}] {}", self.table.join("."), self.name)
        }
    }

    /// Returns the header that it stands below, with its line break.
    pub(super) fn header(&self, sheet: &str) -> Range<usize> {
        self.header.start..line_end(sheet, self.header.end)
    }

    /// Returns the text of it, without the comments above.
    pub(super) fn text<'t>(&self, sheet: &'t str) -> &'t str {
        sheet.get(self.span.clone()).unwrap_or_default()
    }
}

/// A change of a text: what stands in a range gives way to something else.
pub(super) type TextEdit = (Range<usize>, String);

/// Returns the entries of a rule file, in the order of the text. Returns an error for a text that is not TOML, with its line.
pub(super) fn entries(path: &str, text: &str) -> Result<Vec<SheetEntry>, Error> {
    let document = parsed(path, text)?;
    let mut entries = Vec::new();
    table_entries(document.as_table(), &mut Vec::new(), &mut entries);
    entries.sort_by_key(|entry| entry.span.start);
    Ok(entries)
}

fn parsed<'t>(path: &str, text: &'t str) -> Result<Document<&'t str>, Error> {
    Document::parse(text).map_err(|error| {
        let line_of = |span: Range<usize>| RuleFile::new(path, text).line_of(span.start);
        let line = error.span().map_or(1, line_of);
        not_toml(path, line, error.message())
    })
}

fn table_entries(table: &Table, path: &mut Vec<String>, entries: &mut Vec<SheetEntry>) {
    for (name, item) in table {
        match item {
            Item::Table(inner) => {
                path.push(name.to_owned());
                table_entries(inner, path, entries);
                path.pop();
            }
            Item::ArrayOfTables(rows) => {
                path.push(name.to_owned());
                entries.extend(rows.iter().map(|row| row_entry(row, path)));
                path.pop();
            }
            Item::Value(value) => {
                let key = table.key(name).and_then(toml_edit::Key::span);
                let mut entry = SheetEntry {
                    table: path.clone(),
                    name: name.to_owned(),
                    span: key.unwrap_or_default(),
                    header: table.span().unwrap_or_default(),
                    texts: Vec::new(),
                };
                entry.take(name, value);
                entries.push(entry);
            }
            Item::None => {}
        }
    }
}

fn row_entry(row: &Table, path: &[String]) -> SheetEntry {
    let first = row.iter().next().and_then(|(_, item)| item.as_value());
    let mut entry = SheetEntry {
        table: path.to_vec(),
        name: first.map(plain).unwrap_or_default(),
        span: row.span().unwrap_or_default(),
        header: row.span().unwrap_or_default(),
        texts: Vec::new(),
    };
    entry.take_table(row);
    entry
}

impl SheetEntry {
    fn take_table(&mut self, table: &Table) {
        for (key, item) in table {
            match item {
                Item::Value(value) => self.take(key, value),
                Item::Table(inner) => self.take_table(inner),
                Item::ArrayOfTables(rows) => rows.iter().for_each(|row| self.take_table(row)),
                Item::None => {}
            }
        }
    }

    fn take(&mut self, key: &str, value: &Value) {
        if let Some(span) = value.span() {
            self.span.end = self.span.end.max(span.end);
        }
        match value {
            Value::Array(array) => array.iter().for_each(|item| self.take(key, item)),
            Value::String(text) => {
                let place = value.span().unwrap_or_default();
                self.texts
                    .push((key.to_owned(), text.value().clone(), place));
            }
            _ => {}
        }
    }
}

/// Returns a value as it stands, strings without their quotes.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string().trim().to_owned(),
    }
}

/// Returns the text with the edits made; they must not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = text.to_owned();
    for (range, replacement) in edits.into_iter().rev() {
        out.replace_range(range, &replacement);
    }
    out
}

/// Sets the value of a key, or takes its line out; a key that is not there yet gets a line below the one with an offset.
pub(super) fn with_value(
    text: &str,
    (key, place): (&str, Option<Range<usize>>),
    below: usize,
    value: Option<&str>,
) -> String {
    let edit = match (place, value) {
        (Some(place), Some(value)) => (place, value.to_owned()),
        (Some(place), None) => block_removal(text, place),
        (None, Some(value)) => {
            let at = line_end(text, below);
            let gap = if text[..at].ends_with('\n') { "" } else { "\n" };
            (at..at, format!("{gap}{key} = {value}\n"))
        }
        (None, None) => return text.to_owned(),
    };
    edited(text, vec![edit])
}

/// Puts lines between blank lines.
pub(super) fn with_block(text: &str, at: usize, block: &str) -> String {
    let (head, tail) = text.split_at(at);
    let gap = match head {
        _ if head.is_empty() || head.ends_with("\n\n") => "",
        _ if head.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let is_closed = tail.is_empty() || tail.starts_with('\n');
    let close = if is_closed { "" } else { "\n" };
    format!("{head}{gap}{block}{close}{tail}")
}

/// Returns the text without entries and the comments that stand right above them, and without tables that have nothing in them.
pub(super) fn without<'e>(
    path: &str,
    text: &str,
    entries: impl IntoIterator<Item = &'e SheetEntry>,
) -> Result<String, Error> {
    let spans = entries.into_iter().map(|entry| entry.span.clone());
    let mut text = without_blocks(text, spans.collect());
    // The end of a table can leave the one above without anything in it.
    loop {
        let mut empty = Vec::new();
        empty_tables(parsed(path, &text)?.as_table(), &mut empty);
        if empty.is_empty() {
            return Ok(text);
        }
        text = without_blocks(&text, empty);
    }
}

fn without_blocks(text: &str, mut spans: Vec<Range<usize>>) -> String {
    // From the end, so that the places before stay true.
    spans.sort_by_key(|span| std::cmp::Reverse(span.start));
    spans.into_iter().fold(text.to_owned(), |text, span| {
        edited(&text, vec![block_removal(&text, span)])
    })
}

/// Take a range of whole lines out, with the comments that stand right above it.
///
/// Of the blank lines around it the larger run stays, none at the end of the file.
fn block_removal(text: &str, span: Range<usize>) -> TextEdit {
    let mut start = line_start(text, span.start);
    while let Some(above) = start.checked_sub(1).map(|end| line_start(text, end)) {
        if !text[above..start].starts_with('#') {
            break;
        }
        start = above;
    }
    // A comment at the head of the whole file belongs to no row.
    if start == 0 && !text[..span.start].trim().is_empty() {
        start = line_start(text, span.start);
    }
    let end = line_end(text, span.end);
    let before = text[..start].len() - text[..start].trim_end_matches('\n').len();
    let after = text[end..].len() - text[end..].trim_start_matches('\n').len();
    // A line break before belongs to the last line; the others are empty lines.
    let blank_before = before.saturating_sub(usize::from(start > before));
    let range = start - blank_before..end + after;
    let left = if range.start == 0 || range.end == text.len() {
        0
    } else {
        blank_before.max(after)
    };
    (range, "\n".repeat(left))
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}

/// After the line break of the line.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..]
        .find('\n')
        .map_or(text.len(), |end| offset + end + 1)
}

/// Returns the entry that a line (from 1) belongs to, if it is one of an entry.
pub(super) fn at_line<'e>(
    text: &str,
    entries: &'e [SheetEntry],
    line: usize,
) -> Option<&'e SheetEntry> {
    let mut breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    let start = match line.checked_sub(2) {
        None => 0,
        Some(before) => breaks.nth(before)?,
    };
    let end = breaks.next().unwrap_or(text.len());
    entries
        .iter()
        .find(|entry| entry.span.start < end && start < entry.span.end)
}

/// The headers of tables that have nothing in them.
fn empty_tables(table: &Table, empty: &mut Vec<Range<usize>>) {
    for (_, item) in table {
        match item {
            Item::Table(inner) if inner.is_empty() && !inner.is_implicit() => {
                empty.extend(inner.span())
            }
            Item::Table(inner) => empty_tables(inner, empty),
            _ => {}
        }
    }
}
