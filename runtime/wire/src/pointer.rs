//! JSON pointers (RFC 6901): a segment escaped, and the pointer of an offset, found by walking the text up to it.

use std::borrow::Cow;
use std::fmt::Write;

use crate::scan;
use crate::text::unescape_lossy;

/// Escapes one segment.
#[must_use]
pub fn escaped(segment: &str) -> Cow<'_, str> {
    match segment.contains(['~', '/']) {
        true => segment.replace('~', "~0").replace('/', "~1").into(),
        false => segment.into(),
    }
}

/// Reverses the escapes of one segment.
#[must_use]
pub fn unescaped(segment: &str) -> Cow<'_, str> {
    match segment.contains('~') {
        true => segment.replace("~1", "/").replace("~0", "~").into(),
        false => segment.into(),
    }
}

/// A container on the way to the offset.
enum Open<'a> {
    /// The member whose value is next or open, none between members; and whether a key may come.
    Object(Option<Cow<'a, str>>, bool),
    /// The index of the element, and whether it has ended.
    Array(usize, bool),
}

/// The pointer (RFC 6901) of the value that stands at `offset` in `text`, or of the container around it.
///
/// A key leads to its member.
/// The text before `offset` should be JSON; if it is not, the walk ends there.
pub(crate) fn at(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    loop {
        at = scan::blank_end(bytes, at);
        let is_key = matches!(open.last(), Some(Open::Object(None, true)));
        if at > offset || (at == offset && !is_key) {
            break;
        }
        match scan::byte(bytes, at) {
            b'{' => open.push(Open::Object(None, true)),
            b'[' => open.push(Open::Array(0, false)),
            b'}' | b']' => {
                open.pop();
                end_value(&mut open);
            }
            b',' => match open.last_mut() {
                Some(Open::Array(index, ended)) => {
                    *index += 1;
                    *ended = false;
                }
                Some(Open::Object(_, expects_key)) => *expects_key = true,
                None => {}
            },
            b':' => {}
            b'"' => {
                let Ok(end) = scan::string_end(bytes, at + 1) else {
                    break;
                };
                let is_reached = offset < end;
                if is_reached && offset > at {
                    break;
                }
                if let Some(Open::Object(key @ None, expects_key @ true)) = open.last_mut() {
                    *expects_key = false;
                    *key = text.get(at + 1..end - 1).map(unescape_lossy);
                } else {
                    end_value(&mut open);
                }
                if is_reached {
                    break;
                }
                at = end;
                continue;
            }
            _ => {
                let end = scalar_end(bytes, at);
                if at == offset || offset < end || end == at {
                    break;
                }
                at = end;
                end_value(&mut open);
                continue;
            }
        }
        at += 1;
    }
    render(&open)
}

/// The position after the number or literal at `at`, right or wrong.
pub(crate) fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .position(|&byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.'));
    at + length.unwrap_or(rest.len())
}

fn end_value(open: &mut [Open<'_>]) {
    match open.last_mut() {
        Some(Open::Object(key, _)) => *key = None,
        Some(Open::Array(_, ended)) => *ended = true,
        None => {}
    }
}

fn render(open: &[Open<'_>]) -> String {
    let mut pointer = String::new();
    for segment in open {
        match segment {
            Open::Object(Some(key), _) => {
                pointer.push('/');
                pointer.push_str(&escaped(key));
            }
            Open::Array(index, false) => {
                // Writing to a string does not fail.
                let _ = write!(pointer, "/{index}");
            }
            Open::Object(None, _) | Open::Array(_, true) => {}
        }
    }
    pointer
}
