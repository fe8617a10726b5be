//! What went wrong while reading, as small as the fast path wants it: an offset and static data.

use crate::cases::{Paths, Tag};

/// Why a value could not be read, before the text has been asked where that was.
///
/// One pointer in size; it becomes an [`Error`](crate::Error) through [`Error::new`](crate::Error::new).
#[derive(Debug, Clone)]
pub struct Fault(Box<FaultDetail>);

#[derive(Debug, Clone)]
struct FaultDetail {
    offset: usize,
    what: FaultCause,
}

/// The kinds of fault, each with what it needs to explain itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FaultCause {
    /// Not JSON; holds what was expected.
    Syntax(&'static str),
    /// A value of another kind; holds what was expected.
    Kind(&'static str),
    /// Not an object; holds the name of the type.
    NoObject(&'static str),
    Missing {
        of: &'static str,
        member: &'static str,
    },
    Constant(&'static str),
    /// Holds the number or the boolean as the schema spells it.
    ConstantLiteral(&'static str),
    Choice(&'static [&'static str]),
    Tag(&'static Tag),
    /// Holds the paths to the members that decide.
    Undecided(&'static Paths),
    /// Members that exclude each other; holds what was expected.
    Conflict(&'static str),
    /// The offset is that of the second key.
    Duplicate,
    /// The offset is that of the key; holds the name of the type.
    Unknown(&'static str),
    Depth,
    Surrogate,
    Utf8,
}

impl Fault {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(offset: usize, what: FaultCause) -> Self {
        Self(Box::new(FaultDetail { offset, what }))
    }

    /// Returns the offset, in bytes, of what could not be read.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    pub(crate) fn what(&self) -> FaultCause {
        self.0.what
    }

    /// Returns the same fault, at another offset.
    pub(crate) fn moved(&self, offset: usize) -> Self {
        Self::new(offset, self.what())
    }

    pub(crate) fn expects_object(&self) -> bool {
        matches!(
            self.what(),
            FaultCause::NoObject(_) | FaultCause::Kind("an object")
        )
    }
}
