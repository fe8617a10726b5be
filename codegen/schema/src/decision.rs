//! Decisions: what the input leaves open, the safe answer that stands in, and the line of `spec/` that would settle it.
//!
//! A stage that meets an open question lists it and goes on with the default, so that one run names all open questions.
//! `Models::refused`, and for pairs `Models::planned`, decide if that was allowed: a draft takes the answer and lists it, as a
//! schema that stands alone does; for a released revision or a candidate each is a problem.

use std::fmt;

use crate::pair::RevisionPair;
use crate::{Error, FileLocation, SpecDiagnostic};

/// Something that the input leaves open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decision {
    /// The input that the decision belongs to.
    pub scope: Scope,
    /// JSON pointer in the schema, or the place in a pair (`Tool.inputSchema`); empty for the whole.
    pub place: String,
    /// The kind of the question.
    pub question: QuestionKind,
    /// The open question, as a sentence without its full stop.
    pub open: String,
    /// The safe answer that stands in: nothing is lost by it on reading and writing, and a shim records what it loses.
    pub answer: String,
    /// The lines that would settle it.
    pub settle: Settle,
}

/// The subject of a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A revision of the spec, by id.
    Revision(String),
    /// An extension, by name.
    Extension {
        /// The name of its folder.
        name: String,
        /// The id of its state.
        state: String,
        /// The id of the revision that it rests on: the rules of that one hold for it.
        revision: String,
        /// Set if rows begin with the state: older states do without the row.
        has_older: bool,
    },
    /// A schema that is not a revision, by the name of its file.
    Schema(String),
    /// The conversions between two adjacent revisions.
    Pair(RevisionPair),
}

/// The kinds of questions that the input can leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionKind {
    /// Nothing says what answers a request.
    Result,
    /// No union lists a message, so nothing says who sends it.
    Direction,
    /// The variants of a union cannot be distinguished.
    Union,
    /// Two schemas, members or choices would have one name.
    Name,
    /// A schema that says something no type can hold.
    Shape,
    /// An error code of which nothing says what it means.
    Code,
    /// A change between adjacent revisions that no rule covers.
    Change,
}

/// The lines for a file of `spec/` that would settle a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settle {
    /// The file, below the spec directory: `methods.toml`.
    pub file: String,
    /// The lines to add: TOML, with an empty `reason` where the file wants one.
    pub stub: String,
}

impl Decision {
    /// Returns the open question as a diagnostic: with the answer that was taken, if it was, and the lines that would
    /// settle it.
    pub(crate) fn diagnostic(&self, taken: &str) -> SpecDiagnostic {
        let file = self.scope.to_string();
        let of = |place| SpecDiagnostic::of(file, place, self.open.as_str());
        let told = match self.place.as_str() {
            pointer if pointer.starts_with('/') => of(FileLocation::Pointer(pointer.into())),
            place => SpecDiagnostic {
                rule: place.into(),
                ..of(FileLocation::Whole)
            },
        };
        let Settle { file, stub } = &self.settle;
        let lines: String = stub
            .trim_end()
            .lines()
            .map(|line| format!("\n  {line}"))
            .collect();
        told.note("taken", taken)
            .help(format!("to settle it, add to spec/{file}:{lines}"))
    }

    /// Returns it as an error, for where no default may be taken.
    pub fn refused(self) -> Error {
        Error::Open(Box::new(self))
    }
}

impl Scope {
    /// Returns a question about a place in its schema, with the answer that stands in.
    pub(crate) fn asks(
        &self,
        question: QuestionKind,
        place: String,
        open: String,
        answer: String,
        settle: Settle,
    ) -> Decision {
        Decision {
            scope: self.clone(),
            place,
            question,
            open,
            answer,
            settle,
        }
    }
}

impl Settle {
    /// Creates the lines of a file.
    pub fn of(file: impl Into<String>, stub: impl Into<String>) -> Self {
        let (file, stub) = (file.into(), stub.into());
        Self { file, stub }
    }
}

mcp_wire::strings! {
    QuestionKind {
        Result "result";
        Direction "direction";
        Union "union";
        Name "name";
        Shape "shape";
        Code "code";
        Change "change";
    }
}

impl fmt::Display for Scope {
    /// Returns the file in which it stands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(id) => write!(f, "spec/{id}/schema.json"),
            Self::Extension { name, state, .. } => {
                write!(f, "spec/extensions/{name}/{state}/schema.json")
            }
            Self::Schema(file) => f.write_str(file),
            Self::Pair(pair) => write!(f, "spec/{}", pair.file()),
        }
    }
}

/// Writes the open question, the answer taken, and the lines that would settle it.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic(&self.answer).fmt(f)
    }
}
