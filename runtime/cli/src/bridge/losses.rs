//! What messages lose on their way through the bridge: each report goes to one hook, and grave losses can be rejected.

use mcp_registry::{Context, Loss, LossKind, Revision, Subject};
use mcp_revisions::server::{Lost, Undelivered};
use mcp_wire::{ErrorObject, Json, RequestId};

/// An end of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Client,
    Server,
}

/// A message at one end of the bridge, as reports name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) end: End,
    /// The revision of the peer at that end.
    pub(super) revision: Revision,
    /// The method of the message, or of the request that it answers.
    pub(super) method: &'a str,
    /// The id of the request that the message is or answers; none for a notification.
    pub(super) request: Option<&'a RequestId>,
}

/// What one message lost on its way through the bridge, or why it was not delivered.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossReport<'a> {
    pub(super) about: About<'a>,
    pub(super) losses: &'a [Loss],
    /// Why nothing of the message was delivered; none if it was.
    pub(super) undelivered: Option<Undelivered<'a>>,
}

type Hook = dyn Fn(&LossReport<'_>) + Send + Sync;

/// The hook that reports go to, and which losses are rejected.
pub(super) struct Losses {
    hook: Box<Hook>,
    /// The least grave loss for which an error is sent.
    rejected: Option<LossKind>,
}

impl Losses {
    pub(super) fn new(
        rejected: Option<LossKind>,
        hook: impl Fn(&LossReport<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            hook: Box::new(hook),
            rejected,
        }
    }

    /// Reports what the end towards clients has converted.
    pub(super) fn report_of_server(&self, lost: &Lost<'_>) {
        let about = About {
            end: End::Client,
            revision: lost.peer,
            method: lost.method,
            request: lost.request,
        };
        self.report(about, lost.losses, lost.undelivered);
    }

    /// Reports the losses of a message that was delivered.
    pub(super) fn tell(&self, about: About<'_>, losses: &[Loss]) {
        if !losses.is_empty() {
            self.report(about, losses, None);
        }
    }

    fn report(&self, about: About<'_>, losses: &[Loss], undelivered: Option<Undelivered<'_>>) {
        (self.hook)(&LossReport {
            about,
            losses,
            undelivered,
        });
    }

    /// Returns the error in the place of a message that has a loss that is rejected on its way `from` one
    /// revision `to` that of `about`, and reports it.
    pub(super) fn refuse_to_carry(
        &self,
        about: About<'_>,
        subject: Subject<'_>,
        from: Revision,
        value: &Json,
    ) -> Option<ErrorObject> {
        self.rejected?;
        let (to, text) = (about.revision, value.text());
        let outcome = mcp_registry::convert(subject, from, to, text, Context::default());
        self.refuse(about, outcome.ok()?.losses())
    }

    /// Returns the error in the place of a message that has a loss that is rejected, and reports it.
    pub(super) fn refuse(&self, about: About<'_>, losses: &[Loss]) -> Option<ErrorObject> {
        let least = self.rejected?;
        let loss = losses
            .iter()
            .find(|loss| loss.change.is_loss() && loss.kind() >= least)?;
        let (hop, rule) = (loss.hop, loss.rule());
        let told = format!(
            "refused: {} at {} would be lost ({hop}, rule {rule})",
            loss.kind().as_str(),
            loss.pointer(),
        );
        let error = ErrorObject::new(ErrorObject::INTERNAL_ERROR, told);
        let rejected = Undelivered::Rejected {
            rule,
            hop,
            error: &error,
        };
        self.report(about, &[], Some(rejected));
        Some(error)
    }
}
