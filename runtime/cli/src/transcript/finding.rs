//! What can be wrong in a talk.

/// What was found at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What sort of thing.
    pub(crate) fault: Fault,
    /// Where in the message.
    pub(crate) pointer: String,
    /// What the message was read as.
    pub(crate) about: String,
    /// What is wrong.
    pub(crate) told: String,
}

/// What sort of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The line is none of a transcript.
    Line,
    /// The text is no message.
    NoMessage,
    /// The message is not what its method wants.
    Invalid,
    /// Something is not there any more once it was read.
    Lost,
    /// The other side alone sends it.
    Direction,
    /// It says a version that nobody knows.
    Version,
    /// Nothing says which revision is spoken.
    NoRevision,
    /// An id that its sender used before.
    IdUsed,
    /// A response to nothing.
    Unasked,
    /// A second response.
    AnsweredTwice,
    /// No response.
    Unanswered,
}

impl Fault {
    /// Its name in output.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::NoMessage => "no-message",
            Self::Invalid => "invalid",
            Self::Lost => "lost",
            Self::Direction => "direction",
            Self::Version => "version",
            Self::NoRevision => "no-revision",
            Self::IdUsed => "id-used-before",
            Self::Unasked => "unasked-response",
            Self::AnsweredTwice => "answered-twice",
            Self::Unanswered => "unanswered",
        }
    }
}
