//! The lines of a file on which the parts of its schema are, for annotations.

use mcp_revisions_schema::sorted::SortedMap;
use std::ops::Range;

use serde_json::value::RawValue;

use mcp_revisions_schema::pointer::unescaped;

/// A text that is known to be JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceLines {
    /// The file, as it was named.
    pub(crate) file: String,
    text: String,
    /// The parts that have other pointers in the file than in what is compared, by the latter; none of a schema.
    parts: SortedMap<String, SourcePart>,
}

/// A part of a file that is compared under another pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SourcePart {
    /// Its value in the text.
    range: Range<usize>,
    /// The line on which the value begins.
    line: usize,
    /// The pointer from there on.
    within: String,
}

impl SourceLines {
    pub(crate) fn of(file: &str, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            parts: SortedMap::new(),
        }
    }

    /// Lets each value of an object in the file be found under other pointers, with a pointer into it: `names` says which, by the
    /// name of the value.
    pub(crate) fn add_parts(
        &mut self,
        holder: &str,
        names: impl Fn(&str) -> Vec<(String, String)>,
    ) {
        let Some(object) = followed(&self.text, holder) else {
            return;
        };
        let values: SortedMap<String, &RawValue> = serde_json::from_str(object).unwrap_or_default();
        let (mut counted, mut line) = (0, 1);
        let mut ranges: Vec<(String, Range<usize>)> = Vec::new();
        for (name, value) in values {
            let start = value.get().as_ptr().addr() - self.text.as_ptr().addr();
            ranges.push((name, start..start + value.get().len()));
        }
        ranges.sort_by_key(|(_, range)| range.start);
        let mut parts = Vec::new();
        for (name, range) in ranges {
            let before = self.text.get(counted..range.start).unwrap_or_default();
            line += before.matches('\n').count();
            counted = range.start;
            for (pointer, within) in names(&name) {
                let range = range.clone();
                parts.push((
                    pointer,
                    SourcePart {
                        range,
                        line,
                        within,
                    },
                ));
            }
        }
        self.parts.extend(parts);
    }

    /// Returns the line of a part, or of what is nearest around it.
    pub(crate) fn of_pointer(&self, pointer: &str) -> usize {
        let whole = (0, self.text.as_str(), 1, String::new());
        let mut ends = pointer.rmatch_indices('/').map(|(at, _)| at);
        let around = std::iter::once(pointer.len()).chain(&mut ends);
        let found = around
            .take_while(|_| !self.parts.is_empty())
            .find_map(|end| {
                let part = self.parts.get(pointer.get(..end)?)?;
                Some((
                    end,
                    self.text.get(part.range.clone())?,
                    part.line,
                    part.within.clone(),
                ))
            });
        let (end, text, line, within) = found.unwrap_or(whole);
        let pointer = within + pointer.get(end..).unwrap_or_default();
        let mut found = text;
        let mut segments = pointer.split('/').skip(1);
        while let Some(inner) = segments.next().and_then(|segment| part(found, segment)) {
            found = inner;
        }
        let start = found.as_ptr().addr() - text.as_ptr().addr();
        line + text.get(..start).unwrap_or_default().matches('\n').count()
    }
}

/// Returns the part of a text at a pointer.
fn followed<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let mut segments = pointer.split('/').skip(1);
    segments.try_fold(text, part)
}

/// Returns a member of an object, or an item of a list, by the segment of a pointer.
fn part<'t>(text: &'t str, segment: &str) -> Option<&'t str> {
    let member = || {
        let members: SortedMap<String, &'t RawValue> = serde_json::from_str(text).ok()?;
        // Older schemas say `definitions`; the canonical form, which pointers go by, does not.
        let older = members.get("definitions").filter(|_| segment == "$defs");
        members.get(&*unescaped(segment)).or(older).copied()
    };
    let item = || {
        let items: Vec<&'t RawValue> = serde_json::from_str(text).ok()?;
        items.get(segment.parse::<usize>().ok()?).copied()
    };
    member().or_else(item).map(RawValue::get)
}
