//! On which line of a file a part of its schema stands, so that an annotation can point there.

use crate::sorted::SortedMap;

use serde_json::value::RawValue;

use crate::pointer::unescaped;

/// The text of a file, and where each definition stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The file, as it was named.
    pub(crate) file: String,
    text: String,
    /// From where to where the definitions go, and each of them by name.
    all: [usize; 2],
    definitions: SortedMap<String, [usize; 2]>,
}

impl Lines {
    /// Finds the definitions of a text that is known to be JSON.
    pub(crate) fn of(file: &str, text: &str) -> Self {
        let within = |part: &RawValue| {
            let start = part.get().as_ptr().addr() - text.as_ptr().addr();
            [start, start + part.get().len()]
        };
        let top: SortedMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
        // Older schemas say `definitions`; the canonical form, which pointers go by, does not.
        let all = top.get("$defs").or(top.get("definitions")).copied();
        let each = all.and_then(|all| serde_json::from_str(all.get()).ok());
        let each: SortedMap<String, &RawValue> = each.unwrap_or_default();
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            all: all.map_or([0, 0], within),
            definitions: (each.into_iter())
                .map(|(name, part)| (name, within(part)))
                .collect(),
        }
    }

    /// The line of a part, or of what is nearest around it.
    pub(crate) fn of_pointer(&self, pointer: &str) -> usize {
        let mut segments = pointer.split('/').skip(1);
        let mut found = match segments.next() {
            Some("$defs") => self.all,
            _ => [0, 0],
        };
        if let Some(definition) = segments
            .next()
            .and_then(|name| self.definitions.get(&unescaped(name)))
        {
            found = *definition;
            while let Some(segment) = segments.next()
                && let Some(text) = self.text.get(found[0]..found[1])
                && let Some(inner) = part(text, segment)
            {
                let start = found[0] + inner.as_ptr().addr() - text.as_ptr().addr();
                found = [start, start + inner.len()];
            }
        }
        let before = self.text.get(..found[0]).unwrap_or_default();
        1 + before.matches('\n').count()
    }
}

/// A member of an object, or an item of a list, by the segment of a pointer.
fn part<'t>(text: &'t str, segment: &str) -> Option<&'t str> {
    let member = || {
        let members: SortedMap<String, &'t RawValue> = serde_json::from_str(text).ok()?;
        members.get(&unescaped(segment)).copied()
    };
    let item = || {
        let items: Vec<&'t RawValue> = serde_json::from_str(text).ok()?;
        items.get(segment.parse::<usize>().ok()?).copied()
    };
    member().or_else(item).map(RawValue::get)
}
