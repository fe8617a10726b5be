//! The result of a translation, and reports of messages that lost something by it, or were refused or dropped.

use std::fmt;
use std::sync::Arc;

use mcp_revisions_core::{Loss, Rejected, RequiresState, Revision, Subject};
use mcp_wire::{Error, ErrorObject, RequestId};

/// The result of a translation: the text with its losses, or the reason why there is none.
pub(crate) type Translated<T> = Result<(T, Vec<Loss>), Stopped>;

/// Why a text was not carried over.
#[derive(Debug)]
pub(crate) enum Stopped {
    RequiresState(RequiresState),
    Rejected(Box<Rejected>),
    Dropped(&'static str),
    /// The text is none of its type.
    Invalid(Box<MessageMistake>),
    /// The revision has no such method or type.
    Unknown(String),
}

/// A mistake of the sender of a text that is not of its type.
#[derive(Debug)]
pub(crate) struct MessageMistake {
    /// Only a client's failures hand it on.
    pub(crate) error: Error,
    /// The fault: the peer, the message, and the place.
    pub(crate) told: String,
}

impl MessageMistake {
    pub(crate) fn new(subject: Subject<'_>, error: Error) -> Self {
        let told = subject.refusal(&error);
        Self::saying(told, error)
    }

    /// Returns a mistake that is in no value of a type.
    pub(crate) fn saying(told: String, error: Error) -> Self {
        Self { error, told }
    }
}

impl Stopped {
    /// Returns the error in its place; `invalid` is the code for a text that is not of its type: an error of its sender.
    pub(crate) fn into_error(self, invalid: i64) -> ErrorObject {
        let unknown = |what: String| ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, what);
        match self {
            Self::RequiresState(needs) => unknown(needs.to_string()),
            Self::Rejected(rejected) => rejected.error,
            Self::Dropped(rule) => unknown(format!("not known here ({rule})")),
            Self::Invalid(mistake) => ErrorObject::new(invalid, mistake.told),
            Self::Unknown(what) => unknown(what),
        }
    }
}

/// The losses of one message on its way to or from a peer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Lost<'a> {
    /// The method of the message, or of the request that it answers.
    pub method: &'a str,
    /// The revision of the peer.
    pub peer: Revision,
    /// The id of the request that the message is, answers or belongs to, on whichever side it was made; `None` for a
    /// notification that belongs to no request, and for a question that a client is asked in a result.
    pub request: Option<&'a RequestId>,
    /// The losses.
    pub losses: &'a [Loss],
    /// Why nothing of it arrived; `None` if it did.
    pub undelivered: Option<Undelivered<'a>>,
}

/// Why a message did not get through: the receiver's revision does not have it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Undelivered<'a> {
    /// A request or a response that was refused: this error was sent in its place, to the peer that waits for the response.
    Rejected {
        /// The rule in `spec/shims/` that says so.
        rule: &'static str,
        /// The conversion, as `2025-11-25..2026-07-28`.
        step: &'static str,
        /// The error.
        error: &'a ErrorObject,
    },
    /// A notification that was dropped.
    Dropped {
        /// The rule in `spec/shims/` that says so.
        rule: &'static str,
    },
}

pub(super) type LossCallback = dyn Fn(&Lost<'_>) + Send + Sync;

/// The hook for messages that lost something; does nothing if none is set.
#[derive(Clone, Default)]
pub struct LossHook(pub(super) Option<Arc<LossCallback>>);

impl LossHook {
    /// Makes a hook of a function.
    pub fn new(hook: impl Fn(&Lost<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }

    /// Adds a hook, which is called before the one that stands.
    pub(crate) fn behind(self, first: impl Fn(&Lost<'_>) + Send + Sync + 'static) -> Self {
        Self::new(move |lost| {
            first(lost);
            if let Some(hook) = &self.0 {
                hook(lost);
            }
        })
    }

    /// Tells what a message lost that was carried over.
    pub fn tell_losses(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        losses: &[Loss],
    ) {
        if let Some(hook) = self.0.as_ref().filter(|_| !losses.is_empty()) {
            hook(&Lost {
                method,
                peer,
                request,
                losses,
                undelivered: None,
            });
        }
    }

    /// Tells what a conversion came to, if that is worth telling.
    pub(crate) fn tell<T>(
        &self,
        method: &str,
        peer: Revision,
        request: Option<&RequestId>,
        translated: &Translated<T>,
    ) {
        let Some(hook) = &self.0 else { return };
        let (losses, undelivered) = match translated {
            Ok((_, losses)) if losses.is_empty() => return,
            Ok((_, losses)) => (losses.as_slice(), None),
            Err(Stopped::Rejected(rejected)) => {
                let error = &rejected.error;
                let (rule, step) = (rejected.rule, rejected.step);
                (&[][..], Some(Undelivered::Rejected { rule, step, error }))
            }
            Err(Stopped::Dropped(rule)) => (&[][..], Some(Undelivered::Dropped { rule })),
            // An adapter takes these over, or they are none of their revision, which is nothing that gets lost.
            Err(Stopped::RequiresState(_) | Stopped::Invalid(_) | Stopped::Unknown(_)) => return,
        };
        hook(&Lost {
            method,
            peer,
            request,
            losses,
            undelivered,
        });
    }
}

impl fmt::Debug for LossHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LossHook").field(&self.0.is_some()).finish()
    }
}
