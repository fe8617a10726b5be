//! The losses of one message, and the hook that reports them.

use std::fmt;
use std::sync::Arc;

use mcp_revisions_tables::{Dropped, Loss, Rejected, Revision, Severity};
use mcp_wire::{ErrorObject, RequestId};

use crate::diagnostic::ConversionError;

/// The role of a peer: the end of a connection at which a message was converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerRole {
    /// The peer is a client.
    Client,
    /// The peer is a server.
    Server,
}

/// The losses of one message on its way to or from a peer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MessageLosses<'a> {
    /// The role of the peer.
    pub peer: PeerRole,
    /// The revision of the peer.
    pub revision: Revision,
    /// The method of the message, or of the request that it answers.
    pub method: &'a str,
    /// The id of the request that the message is, answers or belongs to, as it stands in the messages of this peer; `None` for a
    /// notification that belongs to no request, and for a question that a client is asked in a result.
    pub request: Option<&'a RequestId>,
    /// The losses.
    pub losses: &'a [Loss],
    /// The reason why the message was not delivered: [`ConversionError::Rejected`], whose error was sent in its place, or
    /// [`ConversionError::Dropped`]. `None` if it was.
    pub undelivered: Option<&'a ConversionError>,
}

/// Returns the error in place of a message with a loss of this severity or worse.
pub(crate) fn refused(losses: &[Loss], least: Severity) -> Option<Rejected> {
    let is_refused = |loss: &&Loss| loss.is_loss() && loss.severity() >= least;
    let loss = losses.iter().find(is_refused)?;
    let (step, rule, pointer) = (loss.step, loss.rule(), loss.pointer());
    let severity = loss.severity();
    let why = format!("refused: {severity} at {pointer} would be lost ({step}, rule {rule})");
    Some(Rejected {
        error: ErrorObject::new(ErrorObject::INTERNAL_ERROR, why),
        rule,
        step,
        pointer,
    })
}

type LossCallback = dyn Fn(&MessageLosses<'_>) + Send + Sync;

/// A hook for messages that lost something; does nothing if none is set.
#[derive(Clone, Default)]
pub struct LossHook(Option<Arc<LossCallback>>);

impl LossHook {
    /// Makes a hook of a function.
    pub fn new(hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }

    /// Adds a hook, which is called before the one that stands.
    #[doc(hidden)]
    #[must_use]
    pub fn behind(self, first: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        Self::new(move |message| {
            first(message);
            self.call(message);
        })
    }

    /// Calls the hook with the losses of a message.
    #[doc(hidden)]
    pub fn tell_losses(
        &self,
        peer: PeerRole,
        method: &str,
        revision: Revision,
        request: Option<&RequestId>,
        losses: &[Loss],
    ) {
        self.call(&MessageLosses {
            peer,
            revision,
            method,
            request,
            losses,
            undelivered: None,
        });
    }

    /// Calls the hook with a notification that no peer of this role and revision gets, by this rule.
    #[doc(hidden)]
    pub fn tell_dropped(&self, peer: (PeerRole, Revision), method: &str, rule: &'static str) {
        let dropped = ConversionError::Dropped(Dropped {
            rule,
            step: "",
            pointer: String::new(),
        });
        self.call(&MessageLosses {
            peer: peer.0,
            revision: peer.1,
            method,
            request: None,
            losses: &[],
            undelivered: Some(&dropped),
        });
    }

    /// Calls the hook with a message that lost something or was not delivered.
    pub(crate) fn call(&self, message: &MessageLosses<'_>) {
        let is_worth_it = !message.losses.is_empty() || message.undelivered.is_some();
        if let Some(hook) = self.0.as_ref().filter(|_| is_worth_it) {
            hook(message);
        }
    }
}

impl fmt::Debug for LossHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LossHook").field(&self.0.is_some()).finish()
    }
}
