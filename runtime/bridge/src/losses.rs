//! Losses of messages on their way through the bridge: each report goes to one hook, and grave losses can be rejected.

use mcp_revisions::sansio::server::{Lost, Undelivered};
use mcp_revisions_core::{Context, Loss, Revision, Severity, Subject};
use mcp_wire::{ErrorObject, Json, RequestId};

use crate::measures;

/// An end of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BridgeEnd {
    /// The end towards clients.
    Client,
    /// The end towards the upstream server.
    Server,
}

/// The losses of one message at an end of the bridge, or the reason why it was not delivered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LossReport<'a> {
    /// The end at which the message was converted.
    pub end: BridgeEnd,
    /// The revision of the peer at that end.
    pub revision: Revision,
    /// The method of the message, or of the request that it answers.
    pub method: &'a str,
    /// The id of the request that the message is or answers; `None` for a notification.
    pub request: Option<&'a RequestId>,
    /// The losses.
    pub losses: &'a [Loss],
    /// Why nothing of the message was delivered; `None` if it was.
    pub undelivered: Option<Undelivered<'a>>,
}

impl<'a> LossReport<'a> {
    /// Returns a message that lost nothing.
    pub(crate) fn of(
        end: BridgeEnd,
        revision: Revision,
        method: &'a str,
        request: Option<&'a RequestId>,
    ) -> Self {
        Self {
            end,
            revision,
            method,
            request,
            losses: &[],
            undelivered: None,
        }
    }
}

type LossReporter = dyn Fn(&LossReport<'_>) + Send + Sync;

/// The hook that reports go to, and which losses are rejected.
pub(crate) struct Losses {
    pub(crate) hook: Box<LossReporter>,
    /// The least grave loss for which an error is sent.
    pub(crate) rejected: Option<Severity>,
}

impl Default for Losses {
    fn default() -> Self {
        Self {
            hook: Box::new(|_| {}),
            rejected: None,
        }
    }
}

impl std::fmt::Debug for Losses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Losses")
            .field("rejected", &self.rejected)
            .finish_non_exhaustive()
    }
}

impl Losses {
    /// Reports what the end towards clients has converted.
    pub(crate) fn report_of_server(&self, lost: &Lost<'_>) {
        (self.hook)(&LossReport {
            losses: lost.losses,
            undelivered: lost.undelivered,
            ..LossReport::of(BridgeEnd::Client, lost.peer, lost.method, lost.request)
        });
    }

    /// Reports the losses of a message that was delivered.
    pub(crate) fn tell(&self, about: LossReport<'_>, losses: &[Loss]) {
        if !losses.is_empty() {
            measures::losses(losses);
            (self.hook)(&LossReport { losses, ..about });
        }
    }

    /// Returns the error in the place of a message that has a loss that is rejected on its way `from` one
    /// revision `to` that of `about`, and reports it.
    pub(crate) fn refuse_to_carry(
        &self,
        about: LossReport<'_>,
        subject: Subject<'_>,
        from: Revision,
        value: &Json,
    ) -> Option<ErrorObject> {
        self.rejected?;
        let (to, text) = (about.revision, value.text());
        let outcome = mcp_revisions_core::convert(subject, from, to, text, Context::default());
        self.refuse(about, outcome.ok()?.losses())
    }

    /// Returns the error in the place of a message that has a loss that is rejected, and reports it.
    pub(crate) fn refuse(&self, about: LossReport<'_>, losses: &[Loss]) -> Option<ErrorObject> {
        let least = self.rejected?;
        let loss = losses
            .iter()
            .find(|loss| loss.is_loss() && loss.severity() >= least)?;
        let (step, rule) = (loss.step, loss.rule());
        let told = format!(
            "refused: {} at {} would be lost ({step}, rule {rule})",
            loss.severity().as_str(),
            loss.pointer(),
        );
        let error = ErrorObject::new(ErrorObject::INTERNAL_ERROR, told);
        let rejected = Undelivered::Rejected {
            rule,
            step,
            error: &error,
        };
        (self.hook)(&LossReport {
            undelivered: Some(rejected),
            ..about
        });
        Some(error)
    }
}
