//! Findings in recorded traffic, and their kinds.

use crate::report::{CheckResult, CheckVerdict};

/// A finding at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptFinding {
    pub(crate) line: usize,
    pub(crate) fault: FindingKind,
    /// The place in the message.
    pub(crate) pointer: String,
    /// The type that the message was read as.
    pub(crate) about: String,
    /// The fault, in words.
    pub(crate) told: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingKind {
    /// The line is none of a transcript.
    Line,
    /// Messages are missing: the record was written more slowly than they came.
    Gap,
    /// The text is not a message.
    NoMessage,
    /// The message is not what its method wants.
    Invalid,
    /// Something is not there any more once it was read.
    Lost,
    /// The other side alone sends it.
    Direction,
    /// It names a protocol version that no revision has.
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

impl FindingKind {
    /// Its name in output.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Gap => "gap",
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

/// The findings so far, in their order.
#[derive(Debug, Default)]
pub(crate) struct TranscriptFindings(Vec<TranscriptFinding>);

impl std::ops::Deref for TranscriptFindings {
    type Target = [TranscriptFinding];

    fn deref(&self) -> &[TranscriptFinding] {
        &self.0
    }
}

impl TranscriptFindings {
    pub(crate) fn add(
        &mut self,
        line: usize,
        fault: FindingKind,
        pointer: &str,
        about: &str,
        told: &str,
    ) {
        self.0.push(TranscriptFinding {
            line,
            fault,
            pointer: pointer.to_owned(),
            about: about.to_owned(),
            told: told.to_owned(),
        });
    }

    /// Adds the checks of a message, which stands at a place of its line.
    pub(super) fn add_checks(&mut self, line: usize, place: &str, checks: Vec<CheckResult>) {
        for CheckResult { read_as, verdict } in checks {
            match verdict {
                CheckVerdict::Same => {}
                CheckVerdict::Lost(pointers) => {
                    for pointer in pointers {
                        let pointer = format!("{place}{pointer}");
                        let told = "it was not written back as it was read";
                        self.add(line, FindingKind::Lost, &pointer, &read_as, told);
                    }
                }
                CheckVerdict::Refused(problem) => {
                    let told = format!("expected {}, found {}", problem.expected, problem.found);
                    let pointer = format!("{place}{}", problem.pointer);
                    self.add(line, FindingKind::Invalid, &pointer, &read_as, &told);
                }
            }
        }
    }

    /// By their lines.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_key(|finding| finding.line);
    }
}
