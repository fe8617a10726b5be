//! A sampled value: what stands where, what the model says about it, and its text in one of many spellings.

use mcp_revisions_schema::sorted::SortedMap;
use mcp_wire::pointer::escaped;
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::random::Random;
use crate::text;

/// A value and what the model says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// What the model says.
    pub facts: Facts,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `true`, `false`, or a number, as it is spelled.
    Word(String),
    /// What a string says; how it is spelled is up to the [`Style`].
    String(String),
    /// The elements.
    List(Vec<Node>),
    /// The members.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What the model says of the name.
    pub standing: Standing,
    /// Its value.
    pub node: Node,
}

/// What a member is to its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It must be there.
    Required,
    /// It may.
    Optional,
    /// The object's type does not name it.
    Unknown,
}

/// What the model says about a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What it is read as.
    pub kind: Kind,
    /// The named types that it is, a union before its variant.
    pub types: Vec<String>,
    /// `minimum`, `format`, ...: what the schema limits.
    pub limits: SortedMap<String, Json>,
}

/// What a value is read as.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any JSON: nothing inside is looked at.
    Opaque,
    /// Any object.
    OpaqueObject,
    /// Any object as far as the type goes; the schema wants a JSON Schema there.
    SchemaText,
    /// Any array.
    OpaqueArray,
    /// A string.
    String,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// One of these strings.
    Choice(Vec<String>),
    /// This string or integer.
    Constant,
    /// A list of typed values.
    List,
    /// An object of typed values.
    Map,
    /// An object with named members.
    Object,
}

impl Facts {
    /// A value of this kind and of no named type.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            types: Vec::new(),
            limits: SortedMap::new(),
        }
    }
}

impl Node {
    /// A value and its kind.
    #[must_use]
    pub fn new(value: Value, kind: Kind) -> Self {
        let facts = Facts::of(kind);
        Self { value, facts }
    }

    /// An opaque value, from a text that is JSON.
    #[must_use]
    pub fn opaque(value: &text::Value) -> Self {
        let value = match value {
            text::Value::Word(word) => Value::Word(word.clone()),
            text::Value::String(content) => Value::String(content.clone()),
            text::Value::Array(items) => Value::List(items.iter().map(Self::opaque).collect()),
            text::Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| Member {
                        name: name.clone(),
                        standing: Standing::Unknown,
                        node: Self::opaque(value),
                    })
                    .collect(),
            ),
        };
        Self::new(value, Kind::Opaque)
    }

    /// The value below this one, by the steps of a pointer.
    #[must_use]
    pub fn get(&self, path: &[String]) -> Option<&Self> {
        let Some((step, rest)) = path.split_first() else {
            return Some(self);
        };
        let inner = match &self.value {
            Value::List(items) => items.get(step.parse::<usize>().ok()?)?,
            Value::Object(members) => &members.iter().find(|member| member.name == *step)?.node,
            _ => return None,
        };
        inner.get(rest)
    }

    /// As [`get`](Self::get), to change it.
    #[must_use]
    pub fn get_mut(&mut self, path: &[String]) -> Option<&mut Self> {
        let Some((step, rest)) = path.split_first() else {
            return Some(self);
        };
        let inner = match &mut self.value {
            Value::List(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            Value::Object(members) => {
                let member = members.iter_mut().find(|member| member.name == *step)?;
                &mut member.node
            }
            _ => return None,
        };
        inner.get_mut(rest)
    }

    /// Hands every value with its path to `visit`, this one first.
    pub fn walk<'n>(&'n self, visit: &mut impl FnMut(&[String], &'n Self)) {
        self.walk_from(&mut Vec::new(), visit);
    }

    fn walk_from<'n>(
        &'n self,
        path: &mut Vec<String>,
        visit: &mut impl FnMut(&[String], &'n Self),
    ) {
        visit(path, self);
        match &self.value {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    item.walk_from(path, visit);
                    path.pop();
                }
            }
            Value::Object(members) => {
                for member in members {
                    path.push(member.name.clone());
                    member.node.walk_from(path, visit);
                    path.pop();
                }
            }
            Value::Word(_) | Value::String(_) => {}
        }
    }

    /// The text, in the spelling of a style.
    #[must_use]
    pub fn text(&self, style: &mut Style) -> String {
        let mut text = String::new();
        style.blanks(&mut text);
        self.write(style, &mut text);
        style.blanks(&mut text);
        text
    }

    fn write(&self, style: &mut Style, out: &mut String) {
        match &self.value {
            Value::Word(word) => out.push_str(word),
            Value::String(content) => style.string(content, out),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    style.comma(index, out);
                    item.write(style, out);
                }
                style.blanks(out);
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                let mut order: Vec<&Member> = members.iter().collect();
                // Of members that come twice, the order says which one counts.
                if style.shuffled && !repeats(members) {
                    style.random.shuffle(&mut order);
                }
                for (index, member) in order.into_iter().enumerate() {
                    style.comma(index, out);
                    style.string(&member.name, out);
                    style.blanks(out);
                    out.push(':');
                    style.blanks(out);
                    member.node.write(style, out);
                }
                style.blanks(out);
                out.push('}');
            }
        }
    }
}

fn repeats(members: &[Member]) -> bool {
    let mut names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// A JSON pointer (RFC 6901) of steps.
#[must_use]
pub fn pointer(path: &[String]) -> String {
    path.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        pointer.push_str(&escaped(step));
        pointer
    })
}

/// How a text is spelled: blanks, escapes, the order of members.
#[derive(Debug, Clone)]
pub struct Style {
    random: Random,
    /// Blanks between tokens.
    blank: bool,
    /// Escapes where none is needed.
    escaped: bool,
    /// Members in any order.
    shuffled: bool,
}

impl Style {
    /// No blanks, no escape that is not needed, members as they stand.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            random: Random::new(0),
            blank: false,
            escaped: false,
            shuffled: false,
        }
    }

    /// One of the styles.
    #[must_use]
    pub fn any(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            blank: random.once_in(3),
            escaped: random.once_in(3),
            shuffled: !random.once_in(3),
            random,
        }
    }

    fn comma(&mut self, index: usize, out: &mut String) {
        if index > 0 {
            self.blanks(out);
            out.push(',');
        }
        self.blanks(out);
    }

    fn blanks(&mut self, out: &mut String) {
        if self.blank {
            out.push_str(["", "", " ", "\n", "\t", "\r\n  "][self.random.below(6)]);
        }
    }

    fn string(&mut self, content: &str, out: &mut String) {
        out.push('"');
        for char in content.chars() {
            match char {
                _ if self.escaped && self.random.once_in(4) => self.escape(char, out),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\0'..='\x1F' => self.escape(char, out),
                _ => out.push(char),
            }
        }
        out.push('"');
    }

    /// `\uXXXX`, in pairs where one is not enough, or the short escape.
    fn escape(&mut self, char: char, out: &mut String) {
        let short = match char {
            '"' | '\\' | '/' => Some(char),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        match short {
            Some(short) if self.random.once_in(2) => out.extend(['\\', short]),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = match self.random.once_in(2) {
                        true => write!(out, "\\u{unit:04x}"),
                        false => write!(out, "\\u{unit:04X}"),
                    };
                }
            }
        }
    }
}
