//! The notes of a reader that mends: the rows that it goes by, and its edits of the text.

use super::mistakes::{MistakeRow, Mistakes};
use crate::fault::Fault;
use crate::writer::Writer;

/// The mends of a reader so far, in one pass.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(super) mistakes: Mistakes,
    pub(super) edits: Vec<Edit>,
}

/// An edit of a text.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    /// The range that it takes the place of.
    pub(super) start: usize,
    pub(super) end: usize,
    /// What stands there now.
    pub(super) text: String,
    /// Where the value begins that it is about; for a member that is added, its object.
    pub(super) value: usize,
    /// The name of a member that is added.
    pub(super) added: Option<String>,
    pub(super) kind: MendKind,
    /// Whether it leaves out an entry of a list or a map.
    pub(super) is_entry: bool,
    /// The type of which that list or map is a member, once its object is read.
    pub(super) of: Option<&'static str>,
    /// The fault that it mends.
    pub(super) fault: Fault,
}

impl Edit {
    pub(super) fn replacing(start: usize, end: usize, text: String, fault: Fault) -> Self {
        Self {
            start,
            end,
            text,
            value: start,
            added: None,
            kind: MendKind::Replaced,
            is_entry: false,
            of: None,
            fault,
        }
    }

    pub(super) fn removing(start: usize, value: usize, end: usize, fault: Fault) -> Self {
        Self {
            value,
            kind: MendKind::Removed,
            ..Self::replacing(start, end, String::new(), fault)
        }
    }

    pub(super) fn adding(object: usize, member: &str, value: &str, fault: Fault) -> Self {
        let mut name = Writer::new();
        name.string(member);
        let text = format!("{}:{value},", name.into_text());
        Self {
            value: object,
            added: Some(member.to_owned()),
            kind: MendKind::Added,
            ..Self::replacing(object + 1, object + 1, text, fault)
        }
    }

    /// Returns whether a row is about the list or map, by its name, of which it leaves out an entry.
    pub(super) fn is_by(&self, row: &MistakeRow, member: &str) -> bool {
        row.member == member && self.of.is_none_or(|of| row.is_of(of, member))
    }

    /// Returns whether another edit is within the range of this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        if other.start == other.end {
            self.start < other.start && other.start < self.end
        } else {
            self.start <= other.start && other.end <= self.end
        }
    }

    /// Returns the value that it is about, in the text that it edits.
    pub(super) fn old<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.value..self.end).unwrap_or_default()
    }
}

/// What was done with a part that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MendKind {
    /// It was left out.
    Removed,
    /// Another value stands there.
    Replaced,
    /// A value stands where none stood.
    Added,
}
