//! Equality of JSON texts by value, and hashes that go with it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use crate::kind::Kind;
use crate::number;
use crate::scan;
use crate::text::content;

/// Deeper than this, values are compared as texts; no reader of this crate goes so deep.
const DEEP: usize = 1000;

/// Returns whether two texts, both known to be JSON, mean the same value.
pub(crate) fn equal(a: &str, b: &str) -> bool {
    a == b || Tape::of(a).is_equal(0, &Tape::of(b), 0, 0)
}

/// Hashes the value that a text, known to be JSON, means.
pub(crate) fn hash(text: &str, state: &mut dyn Hasher) {
    Tape::of(text).hash(0, 0, state);
}

/// The values of a text, keys among them, in the order of the text.
struct Tape<'a> {
    text: &'a str,
    nodes: Vec<JsonNode>,
}

/// A value, or a key.
#[derive(Clone, Copy)]
struct JsonNode {
    start: usize,
    end: usize,
    /// The index of the node after this one and all that it contains.
    after: usize,
}

impl<'a> Tape<'a> {
    fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut nodes: Vec<JsonNode> = Vec::new();
        let mut open = Vec::new();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let end = match byte {
                b'{' | b'[' => {
                    open.push(nodes.len());
                    at + 1
                }
                b'}' | b']' => {
                    at += 1;
                    let after = nodes.len();
                    if let Some(node) = open.pop().and_then(|index: usize| nodes.get_mut(index)) {
                        node.end = at;
                        node.after = after;
                    }
                    continue;
                }
                b'"' => scan::string_end(bytes, at + 1).unwrap_or(bytes.len()),
                b'-' | b'0'..=b'9' => scan::number_end(bytes, at).unwrap_or(bytes.len()),
                b't' | b'n' => at + 4,
                b'f' => at + 5,
                _ => {
                    at += 1;
                    continue;
                }
            };
            nodes.push(JsonNode {
                start: at,
                end,
                after: nodes.len() + 1,
            });
            at = end;
        }
        Self { text, nodes }
    }

    fn node(&self, index: usize) -> JsonNode {
        self.nodes.get(index).copied().unwrap_or(JsonNode {
            start: 0,
            end: 0,
            after: index + 1,
        })
    }

    fn text_of(&self, index: usize) -> &'a str {
        let node = self.node(index);
        self.text.get(node.start..node.end).unwrap_or_default()
    }

    /// Returns the nodes directly inside `index`.
    fn inside(&self, index: usize) -> impl Iterator<Item = usize> {
        let end = self.node(index).after;
        let mut next = index + 1;
        std::iter::from_fn(move || {
            let node = next;
            next = self.node(node).after;
            (node < end).then_some(node)
        })
    }

    /// Returns the members of the object `index`: the key's content, and the node of the value.
    fn members(&self, index: usize) -> Vec<(Cow<'a, [u8]>, usize)> {
        let keys = self.inside(index).step_by(2);
        keys.map(|key| (string_content(self.text_of(key)), self.node(key).after))
            .collect()
    }

    fn is_equal(&self, here: usize, other: &Tape<'_>, there: usize, depth: usize) -> bool {
        let (a, b) = (self.text_of(here), other.text_of(there));
        if depth > DEEP {
            return a == b;
        }
        match (Kind::of_text(a), Kind::of_text(b)) {
            (Kind::Object, Kind::Object) => {
                let (mut a, mut b) = (self.members(here), other.members(there));
                let has_equal_keys =
                    |a: &[(Cow<'_, [u8]>, usize)], b: &[(Cow<'_, [u8]>, usize)]| {
                        a.iter()
                            .map(|member| &member.0)
                            .eq(b.iter().map(|member| &member.0))
                    };
                if !has_equal_keys(&a, &b) {
                    a.sort_by(|a, b| a.0.cmp(&b.0));
                    b.sort_by(|a, b| a.0.cmp(&b.0));
                    if !has_equal_keys(&a, &b) {
                        return false;
                    }
                }
                a.iter()
                    .zip(&b)
                    .all(|(a, b)| self.is_equal(a.1, other, b.1, depth + 1))
            }
            (Kind::Array, Kind::Array) => {
                let (mut a, mut b) = (self.inside(here), other.inside(there));
                loop {
                    match (a.next(), b.next()) {
                        (Some(a), Some(b)) if self.is_equal(a, other, b, depth + 1) => {}
                        (None, None) => return true,
                        _ => return false,
                    }
                }
            }
            (Kind::String, Kind::String) => a == b || string_content(a) == string_content(b),
            (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number) => {
                number::equal_texts(a, b)
            }
            _ => a == b,
        }
    }

    /// Hashes a value: those that are equal hash alike.
    fn hash(&self, index: usize, depth: usize, mut state: &mut dyn Hasher) {
        let text = self.text_of(index);
        if depth > DEEP {
            return text.hash(&mut state);
        }
        match Kind::of_text(text) {
            Kind::Object => {
                let mut members = self.members(index);
                members.sort_by(|a, b| a.0.cmp(&b.0));
                for (key, value) in members {
                    key.hash(&mut state);
                    self.hash(value, depth + 1, state);
                }
                state.write_u8(b'}');
            }
            Kind::Array => {
                for element in self.inside(index) {
                    self.hash(element, depth + 1, state);
                }
                state.write_u8(b']');
            }
            Kind::String => string_content(text).hash(&mut state),
            Kind::Integer | Kind::Number => number::hash_text(text, state),
            _ => text.hash(&mut state),
        }
    }
}

/// Returns the content of a string, given with its quotes.
fn string_content(quoted: &str) -> Cow<'_, [u8]> {
    content(
        quoted
            .get(1..quoted.len().saturating_sub(1))
            .unwrap_or_default(),
    )
}
