//! Wire paths: where in which message a value stands, whatever the schema calls the parts.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::Direction;

/// `S2C tools/list result $.tools[].execution`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WirePath {
    /// Who sends the part: results travel against their requests.
    pub direction: Direction,
    /// The method; `*` for what every message has.
    pub method: String,
    /// Which part of the exchange.
    pub part: Part,
    /// The place in it, from `$`.
    pub path: String,
    /// The members on the way there, outermost first; items, values of maps and choices have no name.
    pub members: Vec<String>,
    /// Whether the way ends in a choice of a union.
    pub at_choice: bool,
}

/// The way to a place in a message, as it is printed and step by step.
#[derive(Debug, Clone)]
pub(crate) struct Trail {
    text: String,
    members: Vec<String>,
    at_choice: bool,
}

impl Trail {
    /// A way that has not begun, as it is printed.
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            members: Vec::new(),
            at_choice: false,
        }
    }

    /// One step further.
    pub(crate) fn push(&mut self, step: &Step) {
        step.push_to(&mut self.text);
        self.at_choice = matches!(step, Step::Choice(_));
        if let Step::Member(name) = step {
            self.members.push(name.clone());
        }
    }
}

impl WirePath {
    pub(crate) fn new(direction: Direction, method: &str, part: Part, trail: Trail) -> Self {
        let Trail {
            text,
            members,
            at_choice,
        } = trail;
        Self {
            direction,
            method: method.to_owned(),
            part,
            path: text,
            members,
            at_choice,
        }
    }

    /// Where a part as a whole begins, or what is printed in its place.
    pub(crate) fn whole(direction: Direction, method: &str, part: Part, text: &str) -> Self {
        Self::new(direction, method, part, Trail::new(text))
    }

    /// The way there, to be gone on with.
    pub(crate) fn trail(&self) -> Trail {
        Trail {
            text: self.path.clone(),
            members: self.members.clone(),
            at_choice: self.at_choice,
        }
    }
}

/// A part of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The message as a whole.
    Message,
    /// `params` of a request or a notification.
    Params,
    /// `result` of a response.
    Result,
    /// `error` of a response.
    Error,
    /// An HTTP header.
    Header,
    /// What the prose of the protocol binds peers to.
    Rule,
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A named member.
    Member(String),
    /// Any item of a list.
    Item,
    /// Any member that is not named.
    Each,
    /// The choice of a union, by what tells it apart.
    Choice(Selector),
}

/// What tells a choice of a union apart: nodes of the old and new side, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Selector {
    pub(crate) text: String,
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
}

impl Part {
    /// As it is written in a path.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
            Self::Header => "header",
            Self::Rule => "rule",
        }
    }
}

/// `C2S` or `S2C`.
#[must_use]
pub fn direction_id(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "C2S",
        Direction::ServerToClient => "S2C",
    }
}

/// The other way.
#[must_use]
pub(crate) fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::ClientToServer => Direction::ServerToClient,
        Direction::ServerToClient => Direction::ClientToServer,
    }
}

impl WirePath {
    /// The place without what tells the choices of unions apart.
    #[must_use]
    pub(crate) fn bare(&self) -> Self {
        Self {
            path: without_choices(&self.path),
            ..self.clone()
        }
    }

    /// Whether this is the other place or holds it; a message holds its params and its result.
    pub(crate) fn is_at_or_above(&self, path: &Self) -> bool {
        if self.method != path.method {
            return false;
        }
        if self.part == Part::Message && self.path == "$" && path.method != "*" {
            return true;
        }
        self.direction == path.direction
            && self.part == path.part
            && (path.path.strip_prefix(self.path.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

impl fmt::Display for WirePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            direction,
            method,
            part,
            path,
            ..
        } = self;
        write!(f, "{} {method}", direction_id(*direction))?;
        if *part != Part::Message || path != "$" {
            write!(f, " {} {path}", part.id())?;
        }
        Ok(())
    }
}

impl Serialize for WirePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Step {
    /// Adds the step to a path.
    pub(crate) fn push_to(&self, path: &mut String) {
        match self {
            Self::Member(name) if is_plain(name) => {
                path.push('.');
                path.push_str(name);
            }
            Self::Member(name) => {
                path.push_str("[\"");
                for letter in name.chars() {
                    if matches!(letter, '"' | '\\') {
                        path.push('\\');
                    }
                    path.push(letter);
                }
                path.push_str("\"]");
            }
            Self::Item => path.push_str("[]"),
            Self::Each => path.push_str(".*"),
            Self::Choice(Selector { text, .. }) => {
                path.push('{');
                path.push_str(text);
                path.push('}');
            }
        }
    }
}

/// A path without the choices of its unions, which come and go as a union does.
#[must_use]
pub fn without_choices(path: &str) -> String {
    let mut bare = String::with_capacity(path.len());
    let mut depth = 0usize;
    for letter in path.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            letter if depth == 0 => bare.push(letter),
            _ => {}
        }
    }
    bare
}

fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
        && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '-'))
}
