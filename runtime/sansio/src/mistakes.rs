//! Mistakes of a peer: messages that are left out, and messages that are taken as they were meant. Each is reported to a
//! hook, in both roles.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::events::{Event, Ignored, MendedMessage};
use super::quote::{quotable, shown};

/// Number of mistakes of one kind that are all reported; of later ones only every one whose number is a power of two.
const ALL_REPORTED: u64 = 5;

/// A mistake in a message of a peer.
///
/// Its [`Display`](fmt::Display) says what became of the message, where the mistake is, what was expected and what was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PeerMistake<'a> {
    /// The fate of the message.
    pub outcome: MistakeOutcome<'a>,
    /// Number of mistakes of this kind so far, this one included. The first five are reported, and after that
    /// those whose count is a power of two.
    pub count: u64,
}

/// The fate of a message with a mistake.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MistakeOutcome<'a> {
    /// It was left out.
    Ignored(&'a Ignored),
    /// It was taken as it was meant.
    Mended(&'a MendedMessage),
}

impl MistakeOutcome<'_> {
    /// Returns the number of the kind, below [`KINDS`].
    fn kind(&self) -> usize {
        match self {
            Self::Mended(_) => 0,
            Self::Ignored(Ignored::Unreadable(..)) => 1,
            Self::Ignored(Ignored::TooLong(_)) => 2,
            Self::Ignored(Ignored::Batch(_)) => 3,
            Self::Ignored(Ignored::AnswerToNothing(_)) => 4,
            Self::Ignored(Ignored::Error(_) | Ignored::Refused(..)) => 5,
            Self::Ignored(Ignored::Request(_)) => 6,
            Self::Ignored(Ignored::Status(_)) => 7,
            Self::Ignored(Ignored::Invalid(..)) => 8,
            Self::Ignored(Ignored::Dropped(..) | Ignored::Late(_)) => 9,
        }
    }
}

/// Number of kinds of mistakes.
const KINDS: usize = 10;

impl fmt::Display for PeerMistake<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            MistakeOutcome::Ignored(ignored) => write!(f, "left out: {ignored}")?,
            // The mistake is in the framing, and in no message.
            MistakeOutcome::Mended(mended) if mended.method.is_empty() => write!(f, "{mended}")?,
            MistakeOutcome::Mended(mended) => write!(f, "taken as it was meant: {mended}")?,
        }
        match self.count {
            ..ALL_REPORTED => Ok(()),
            ALL_REPORTED => f.write_str(" (of more like this only some are reported)"),
            count => write!(f, " (number {count} of its kind)"),
        }
    }
}

impl fmt::Display for MendedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method.as_str() {
            "" => {}
            method => write!(f, "`{}`, ", quotable(method))?,
        }
        f.write_str(&self.why)
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(unreadable, beginning) => {
                write!(f, "a text that begins with \"{beginning}\": {unreadable}")
            }
            Self::TooLong(bytes) => write!(f, "a message of {bytes} bytes, which is too long"),
            Self::Batch(length) => f.write_str(&batch(*length)),
            Self::AnswerToNothing(Some(id)) => {
                write!(
                    f,
                    "a response to request {}, which is none that waits",
                    shown(id)
                )
            }
            Self::AnswerToNothing(None) => f.write_str(
                "a response at /id: expected the id of a request that waits, found none",
            ),
            Self::Error(error) => write!(
                f,
                "an error that names no request: {} ({})",
                quotable(&error.message),
                error.code
            ),
            Self::Refused(method, error) => write!(
                f,
                "the error in answer to `{method}`: {} ({})",
                quotable(&error.message),
                error.code
            ),
            Self::Request(method) => write!(
                f,
                "a request `{}`, which may not be sent now or in this revision",
                quotable(method)
            ),
            Self::Dropped(method, rule) => write!(
                f,
                "`{}`, which the other revision does not have (rule {rule})",
                quotable(method)
            ),
            Self::Invalid(method, why) => {
                write!(f, "`{}`, which is not valid: {why}", quotable(method))
            }
            Self::Status(status) => {
                write!(
                    f,
                    "HTTP status {status} in answer to a notification or a response"
                )
            }
            Self::Late(what) => write!(f, "{what}, about a request that is over"),
        }
    }
}

/// Describes a batch that may not be sent.
pub(super) fn batch(length: usize) -> String {
    match length {
        0 => "an array without messages; expected one message".to_owned(),
        _ => format!(
            "an array of {length} messages (a batch), which is too long or which this revision does not have; \
             expected one message"
        ),
    }
}

type MistakeCallback = dyn Fn(&PeerMistake<'_>) + Send + Sync;

/// The hook for mistakes of peers, and how many of each kind there were; does nothing if none is set.
#[derive(Clone, Default)]
pub struct MistakeHook(Option<Arc<MistakeCounts>>);

struct MistakeCounts {
    hook: Box<MistakeCallback>,
    counts: [AtomicU64; KINDS],
}

impl MistakeHook {
    /// Makes a hook of a function.
    pub fn new(hook: impl Fn(&PeerMistake<'_>) + Send + Sync + 'static) -> Self {
        let counts = [const { AtomicU64::new(0) }; KINDS];
        let hook = Box::new(hook);
        Self(Some(Arc::new(MistakeCounts { hook, counts })))
    }

    /// Reports an event that is a mistake of the peer.
    pub(super) fn report(&self, event: &Event) {
        let Some(MistakeCounts { hook, counts }) = self.0.as_deref() else {
            return;
        };
        let outcome = match event {
            Event::Ignored(ignored) if ignored.is_mistake() => MistakeOutcome::Ignored(ignored),
            Event::Mended(mended) => MistakeOutcome::Mended(mended),
            _ => return,
        };
        let Some(counter) = counts.get(outcome.kind()) else {
            return;
        };
        let count = counter.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if count <= ALL_REPORTED || count.is_power_of_two() {
            let mistake = PeerMistake { outcome, count };
            // A hook that panics misses this one.
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&mistake)));
        }
    }
}

impl fmt::Debug for MistakeHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MistakeHook")
            .field(&self.0.is_some())
            .finish()
    }
}
