//! Wire paths: the address of a value in the messages of a method, independent of the names of types in the schema.

use std::fmt;

use serde::{Serialize, Serializer};

use mcp_revisions_schema::model::Direction;

/// The address of a value in the messages of a method, such as `S2C tools/list result $.tools[].execution`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WirePath {
    /// The sender of the part: results travel against their requests.
    pub direction: Direction,
    /// The method; `*` for the members of every message.
    pub method: String,
    /// The part of the exchange.
    pub part: ExchangePart,
    /// The address in that part.
    pub trail: Trail,
}

/// The address of a value in a part of a message, as text and as segments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trail {
    /// The printed form. Paths are sorted by it; it is never parsed.
    pub text: String,
    pub(crate) segments: Vec<PathSegment>,
}

impl Trail {
    /// Returns the address of a whole part, `$`.
    pub fn root() -> Self {
        Self {
            text: "$".to_owned(),
            segments: Vec::new(),
        }
    }

    /// Returns the address of a header or of a rule, which is its name.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            text: name.to_owned(),
            segments: vec![PathSegment::Member(name.to_owned())],
        }
    }

    /// Returns the address of the error of this name.
    pub(crate) fn error(name: &str) -> Self {
        let mut trail = Self::root();
        trail.push(&PathSegment::choice(name));
        trail
    }

    /// Appends a segment.
    pub fn push(&mut self, segment: &PathSegment) {
        segment.push_to(&mut self.text);
        self.segments.push(match segment {
            // A path names the same value under every name that a schema has for its type.
            PathSegment::Choice(choice) => PathSegment::choice(&choice.text),
            segment => segment.clone(),
        });
    }

    /// Returns the names of the members in the address, outermost first. Items, values of maps and choices have none.
    pub fn members(&self) -> Vec<&str> {
        let names = self.segments.iter().filter_map(|segment| match segment {
            PathSegment::Member(name) => Some(name.as_str()),
            PathSegment::Item | PathSegment::Each | PathSegment::Choice(_) => None,
        });
        names.collect()
    }

    /// Returns the printed form of each segment, after the `$` of the whole part; a header or a rule is one by itself.
    pub(crate) fn steps(&self) -> Vec<String> {
        let step = |segment: &PathSegment| {
            let mut text = String::new();
            segment.push_to(&mut text);
            text
        };
        if !self.text.starts_with('$') {
            return vec![self.text.clone()];
        }
        let whole = std::iter::once("$".to_owned());
        whole.chain(self.segments.iter().map(step)).collect()
    }

    /// Returns whether the last segment is a choice of a union.
    pub fn ends_in_choice(&self) -> bool {
        matches!(self.segments.last(), Some(PathSegment::Choice(_)))
    }

    /// Returns whether the last segment is this member.
    pub(crate) fn ends_in(&self, member: &str) -> bool {
        matches!(self.segments.last(), Some(PathSegment::Member(name)) if name == member)
    }
}

impl WirePath {
    /// Creates the path of a part of a message.
    pub fn new(direction: Direction, method: &str, part: ExchangePart, trail: Trail) -> Self {
        Self {
            direction,
            method: method.to_owned(),
            part,
            trail,
        }
    }

    /// Creates the path of a whole part of a message.
    pub fn whole(direction: Direction, method: &str, part: ExchangePart) -> Self {
        Self::new(direction, method, part, Trail::root())
    }

    /// Returns the address in the part as text, from `$`.
    pub fn path(&self) -> &str {
        &self.trail.text
    }

    /// Returns the place of the path, without choices of unions.
    pub fn place(&self) -> WirePlace {
        let mut segments = self.trail.segments.clone();
        segments.retain(|segment| !matches!(segment, PathSegment::Choice(_)));
        WirePlace {
            direction: self.direction,
            method: self.method.clone(),
            part: self.part,
            segments,
            at_choice: self.trail.ends_in_choice(),
        }
    }
}

/// A place on the wire: a path without choices of unions, which depend on the schema. The rows of several comparisons are
/// grouped by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WirePlace {
    direction: Direction,
    method: String,
    part: ExchangePart,
    segments: Vec<PathSegment>,
    at_choice: bool,
}

impl WirePlace {
    /// Returns whether this place is the other one or contains it. A whole message contains all of its parts.
    pub fn holds(&self, other: &Self) -> bool {
        if self.method != other.method {
            return false;
        }
        if self.part == ExchangePart::Message && self.segments.is_empty() && other.method != "*" {
            return true;
        }
        self.direction == other.direction
            && self.part == other.part
            && other.segments.starts_with(&self.segments)
    }
}

/// A part of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangePart {
    /// The message as a whole.
    Message,
    /// `params` of a request or a notification.
    Params,
    /// `result` of a response.
    Result,
    /// The response as a whole, around its `result`.
    Response,
    /// `error` of a response.
    Error,
    /// An HTTP header.
    Header,
    /// A rule of the protocol's prose that binds peers.
    Rule,
}

/// A segment of a path: from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSegment {
    /// A named member.
    Member(String),
    /// Any item of a list.
    Item,
    /// Any member that is not named.
    Each,
    /// A choice of a union, by its mark.
    Choice(Selector),
}

/// The mark of a choice of a union: its text, and its nodes in the old and the new schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    pub(crate) text: String,
    pub(crate) nodes: [Option<usize>; 2],
}

mcp_wire::strings! {
    ExchangePart {
        Message "message";
        Params "params";
        Result "result";
        Response "response";
        Error "error";
        Header "header";
        Rule "rule";
    }
}

/// Returns `C2S` or `S2C`.
pub fn direction_id(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "C2S",
        Direction::ServerToClient => "S2C",
    }
}

impl fmt::Display for WirePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            direction,
            method,
            part,
            trail,
        } = self;
        write!(f, "{} {method}", direction_id(*direction))?;
        if *part != ExchangePart::Message || !trail.segments.is_empty() {
            write!(f, " {part} {}", trail.text)?;
        }
        Ok(())
    }
}

impl Serialize for WirePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl PathSegment {
    /// Returns the segment into a choice by its text; the nodes of the choice do not matter.
    pub fn choice(text: &str) -> Self {
        Self::Choice(Selector {
            text: text.to_owned(),
            nodes: [None; 2],
        })
    }

    /// Adds the segment to a path.
    pub(crate) fn push_to(&self, path: &mut String) {
        match self {
            Self::Member(name) if is_plain(name) => path.extend([".", name]),
            Self::Member(name) => {
                let escaped = name.replace('\\', r"\\").replace('"', r#"\""#);
                path.extend(["[\"", &escaped, "\"]"]);
            }
            Self::Item => path.push_str("[]"),
            Self::Each => path.push_str(".*"),
            Self::Choice(Selector { text, .. }) => path.extend(["{", text, "}"]),
        }
    }
}

/// Returns a key without the prefix that names its owner.
pub fn bare(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '-'))
}
