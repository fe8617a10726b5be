//! On which line of a file a part of its schema stands, so that an annotation can point there.

use mcp_revisions_schema::sorted::SortedMap;

use serde_json::value::RawValue;

use mcp_revisions_schema::pointer::unescaped;

/// A text that is known to be JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceLines {
    /// The file, as it was named.
    pub(crate) file: String,
    text: String,
}

impl SourceLines {
    pub(crate) fn of(file: &str, text: &str) -> Self {
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Returns the line of a part, or of what is nearest around it.
    pub(crate) fn of_pointer(&self, pointer: &str) -> usize {
        let mut found = self.text.as_str();
        let mut segments = pointer.split('/').skip(1);
        while let Some(inner) = segments.next().and_then(|segment| part(found, segment)) {
            found = inner;
        }
        let start = found.as_ptr().addr() - self.text.as_ptr().addr();
        let before = self.text.get(..start).unwrap_or_default();
        1 + before.matches('\n').count()
    }
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
