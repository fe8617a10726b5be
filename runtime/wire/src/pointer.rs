//! JSON pointers (RFC 6901): a segment escaped, and the pointer of an offset, found by walking the text up to it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use crate::reader::Reader;
use crate::scan;
use crate::shown::cut;
use crate::text::unescape_lossy;

/// Escapes one segment.
#[must_use]
pub fn escaped(segment: &str) -> Cow<'_, str> {
    if segment.contains(['~', '/']) {
        segment.replace('~', "~0").replace('/', "~1").into()
    } else {
        segment.into()
    }
}

/// Reverses the escapes of one segment.
#[must_use]
pub fn unescaped(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        segment.replace("~1", "/").replace("~0", "~").into()
    } else {
        segment.into()
    }
}

/// A container on the way to the offset, and where it begins.
enum OpenContainer<'a> {
    /// The member whose value is next or open, none between members; and whether a key may come.
    Object(Option<Cow<'a, str>>, bool, usize),
    /// The index of the element, and whether it has ended.
    Array(usize, bool, usize),
}

/// A walk through a text, from one offset to another behind it, that knows the value (RFC 6901) or container it is at.
///
/// A key leads to its member.
/// The text before the offset should be JSON; if it is not, the walk ends there.
pub(crate) struct PointerWalk<'a> {
    text: &'a str,
    open: Vec<OpenContainer<'a>>,
    at: usize,
    /// The names of list entries that were looked up, by the offset of the entry.
    names: HashMap<usize, Option<String>>,
}

impl<'a> PointerWalk<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            open: Vec::new(),
            at: 0,
            names: HashMap::new(),
        }
    }

    /// Goes on to an offset; to more than one only where values begin.
    pub(crate) fn go(&mut self, offset: usize) {
        let Self { text, open, at, .. } = self;
        let (text, bytes) = (*text, text.as_bytes());
        loop {
            *at = scan::blank_end(bytes, *at);
            let is_key = matches!(open.last(), Some(OpenContainer::Object(None, true, _)));
            if *at > offset || (*at == offset && !is_key) {
                break;
            }
            match scan::byte(bytes, *at) {
                b'{' => open.push(OpenContainer::Object(None, true, *at)),
                b'[' => open.push(OpenContainer::Array(0, false, *at)),
                b'}' | b']' => {
                    open.pop();
                    end_value(open);
                }
                b',' => match open.last_mut() {
                    Some(OpenContainer::Array(index, ended, _)) => {
                        *index += 1;
                        *ended = false;
                    }
                    Some(OpenContainer::Object(_, expects_key, _)) => *expects_key = true,
                    None => {}
                },
                b':' => {}
                b'"' => {
                    let Ok(end) = scan::string_end(bytes, *at + 1) else {
                        break;
                    };
                    let is_reached = offset < end;
                    if is_reached && offset > *at {
                        break;
                    }
                    if let Some(OpenContainer::Object(key @ None, expects_key @ true, _)) =
                        open.last_mut()
                    {
                        *expects_key = false;
                        *key = text.get(*at + 1..end - 1).map(unescape_lossy);
                    } else {
                        end_value(open);
                    }
                    if is_reached {
                        break;
                    }
                    *at = end;
                    continue;
                }
                _ => {
                    let end = scalar_end(bytes, *at);
                    if *at == offset || offset < end || end == *at {
                        break;
                    }
                    *at = end;
                    end_value(open);
                    continue;
                }
            }
            *at += 1;
        }
    }

    /// Returns the pointer of the value that it is at, or of the container around it.
    pub(crate) fn pointer(&self) -> String {
        render(&self.open)
    }

    /// Returns the member that the innermost list or map is, and where it begins.
    pub(crate) fn list(&self) -> Option<(&str, usize)> {
        let (innermost, outer) = self.open.split_last()?;
        let (OpenContainer::Object(.., start) | OpenContainer::Array(.., start)) = innermost;
        match outer.last()? {
            OpenContainer::Object(Some(key), ..) => Some((key, *start)),
            _ => None,
        }
    }

    /// Returns the innermost list entry with a name that it is at or in, as ``tool `add` ``.
    pub(crate) fn part(&mut self) -> Option<String> {
        let mut entries = Vec::new();
        for (index, open) in self.open.iter().enumerate() {
            let OpenContainer::Array(_, false, _) = open else {
                continue;
            };
            let start = match self.open.get(index + 1) {
                Some(OpenContainer::Object(.., start) | OpenContainer::Array(.., start)) => *start,
                None => self.at,
            };
            let list = index.checked_sub(1).and_then(|at| self.open.get(at));
            if let Some(OpenContainer::Object(Some(list), ..)) = list {
                entries.push((start, &**list));
            }
        }
        let Self { text, names, .. } = self;
        entries.into_iter().rev().find_map(|(start, list)| {
            let name = names.entry(start).or_insert_with(|| name_of(text, start));
            Some(format!("{} `{}`", singular(list), name.as_ref()?))
        })
    }
}

/// Returns the `name` or `uri` of the object at an offset, as a terminal may show it.
fn name_of(text: &str, offset: usize) -> Option<String> {
    let mut reader = Reader::new(text.get(offset..)?);
    reader.enter_object("").ok()?;
    let (mut first, mut uri) = (true, None);
    while let Ok(true) = reader.next_member(&mut first) {
        let key = reader.raw_string().ok()?;
        reader.colon().ok()?;
        let wanted = matches!(key, "name" | "uri" | "uriTemplate");
        if wanted && reader.peek() == b'"' {
            let value = unescape_lossy(reader.raw_string().ok()?);
            if key == "name" {
                return Some(cut(&value));
            }
            uri = Some(cut(&value));
        } else if reader.skip().is_err() {
            break;
        }
    }
    uri
}

/// Returns the word for an entry of a list: `resource template` for `resourceTemplates`.
fn singular(list: &str) -> String {
    let mut word = String::new();
    for letter in cut(list.strip_suffix('s').unwrap_or(list)).chars() {
        if letter.is_ascii_uppercase() {
            word.push(' ');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

/// Returns the position after the number or literal at `at`, right or wrong.
pub(crate) fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .position(|&byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.'));
    at + length.unwrap_or(rest.len())
}

fn end_value(open: &mut [OpenContainer<'_>]) {
    match open.last_mut() {
        Some(OpenContainer::Object(key, ..)) => *key = None,
        Some(OpenContainer::Array(_, ended, _)) => *ended = true,
        None => {}
    }
}

fn render(open: &[OpenContainer<'_>]) -> String {
    let mut pointer = String::new();
    for segment in open {
        match segment {
            OpenContainer::Object(Some(key), ..) => {
                pointer.push('/');
                pointer.push_str(&escaped(key));
            }
            OpenContainer::Array(index, false, _) => {
                // Writing to a string does not fail.
                let _ = write!(pointer, "/{index}");
            }
            OpenContainer::Object(None, ..) | OpenContainer::Array(_, true, _) => {}
        }
    }
    pointer
}
