//! The decisions about mistakes of peers: rows that say what stands for a part that does not fit.

/// The rows of a revision about mistakes of its peers.
pub type Mistakes = &'static [MistakeRow];

/// A decision about a mistake in a member.
#[derive(Debug)]
pub struct MistakeRow {
    /// The types, or unions, that have the member; empty for all.
    pub of: &'static [&'static str],
    /// The member; empty for each member of the types.
    pub member: &'static str,
    /// What becomes of the mistake.
    pub fate: MistakeFate,
}

/// What becomes of a mistake in a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MistakeFate {
    /// This value stands for an absent one, for `null`, and for one that cannot be read.
    Value(&'static str),
    /// This value stands for an absent one and for `null`, and for no other.
    Absent(&'static str),
    /// This value stands for an absent one beside the member of this name.
    Beside(&'static str, &'static str),
    /// The first value stands for the second.
    Means(&'static str, &'static str),
    /// A list with this value among others stands for it.
    Among(&'static str),
    /// A value of another kind stands in an object, as this member.
    Within(&'static str),
    /// A value of this kind stands for a text, with the value in the place of `_`.
    Reads(ValueKind, &'static str),
    /// An entry of this kind stands for a text, with the entry in the place of `_`.
    EntryReads(ValueKind, &'static str),
    /// A list of alternatives stands for the only one of them that is not this text.
    Only(&'static str),
    /// Neither the member nor an entry of it is left out.
    Kept,
    /// Entries of it are left out as long as one stays.
    KeptSome,
}

/// The kind of a JSON value that stands for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// An object.
    Object,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
}

impl ValueKind {
    /// Returns the text of a template in place of a value; `None` for a value of another kind.
    pub(super) fn read(self, value: &str, template: &str) -> Option<String> {
        let is_it = match self {
            Self::Object => value.starts_with('{'),
            Self::String => value.starts_with('"'),
            Self::Number => value.starts_with(|it: char| it == '-' || it.is_ascii_digit()),
            Self::True => value == "true",
            Self::False => value == "false",
        };
        is_it.then(|| template.replacen('_', value, 1))
    }
}

impl MistakeRow {
    pub(super) fn is_of(&self, of: &str, member: &str) -> bool {
        (self.member.is_empty() || self.member == member)
            && (self.of.is_empty() || self.of.contains(&of))
    }
}
