//! The driver as the HTTP service sees it: its session, its streams, and their owner.

use std::sync::Arc;

use mcp_revisions_core::ProtocolRule;
use mcp_wire::{ErrorObject, peek};

use super::ServerDriver;
use super::streams::{Manner, StoredSession};
use crate::backplane::{EventId, KeptEvent, SessionRecord};
use crate::transport::serve::connection::PeerConnection;
use crate::transport::serve::outbox::Outbox;
use mcp_revisions_core::methods;
use mcp_revisions_sansio::Exchange;
use mcp_revisions_sansio::driver::server as driver;
use mcp_revisions_sansio::server::Owner;

impl ServerDriver {
    /// Returns the stream to which everything goes, if there is only one.
    pub(crate) fn only_stream(&self) -> Option<Outbox> {
        self.state().streams.only()
    }

    /// Sends what belongs to no exchange there; the outbox that it took before, if that is still open.
    pub(crate) fn at_large(&self, outbox: Outbox) -> Result<(), Outbox> {
        self.state().streams.attach(outbox)
    }

    /// Sends what belongs to no exchange there from now on, in place of any outbox that took it before. What its client missed
    /// of it is not known.
    pub(crate) fn continue_at_large(&self, outbox: Outbox) {
        self.state().streams.replace(outbox);
        self.missed_changes();
    }

    /// Ends the stream of the session, because the server stops, unless a call is at work.
    pub(crate) fn end_idle_stream(&self) {
        let mut state = self.state();
        if state.connection.unanswered() == 0 {
            state.streams.end_at_large();
        }
    }

    /// Returns whether a call is at work, as such or as a task of the session.
    pub(crate) fn is_at_work(&self) -> bool {
        self.state().connection.unanswered() > 0
    }

    /// Keeps the events of the session that was opened, so that its client can read them again, here or elsewhere.
    pub(crate) fn keep_with(&self, kept: StoredSession) {
        let mut state = self.state();
        let revision = state.connection.session_revision();
        state.streams.keep_with(kept, revision);
    }

    /// Returns the record of its session for other replicas, if there are any.
    pub(crate) fn record(&self) -> Option<Box<SessionRecord>> {
        self.state().streams.kept()?.record.clone()
    }

    /// Returns the id of its session, if there are other replicas.
    pub(crate) fn kept_session(&self) -> Option<Arc<str>> {
        let mut state = self.state();
        let kept = state.streams.kept().filter(|kept| kept.record.is_some())?;
        Some(Arc::clone(&kept.session))
    }

    /// Takes note of a message for other replicas. Returns the record of its session, if that is another now.
    pub(crate) fn note(&self, message: &mcp_wire::Peeked<'_>) -> Option<Box<SessionRecord>> {
        let mut state = self.state();
        let revision = state.connection.session_revision();
        let has_batches = revision.is_some_and(|it| it.has_rule(ProtocolRule::Batch));
        let limit = state.connection.role().limits().max_batch_length;
        let kept = state.streams.kept()?;
        let record = kept.record.as_mut()?;
        let mut is_another = record.note(message);
        // A refused text changes nothing: a batch that is too long, and `initialize` in one.
        if has_batches && message.elements().take(limit.saturating_add(1)).count() <= limit {
            let messages = message
                .elements()
                .filter_map(|text| peek(text.as_bytes()).ok());
            for message in messages {
                let is_first = message.method.as_deref() == Some(methods::INITIALIZE);
                is_another |= !is_first && record.note(&message);
            }
        }
        is_another.then(|| record.clone())
    }

    /// The session goes on at another replica: here it is over, its calls end with an error, and what is kept of it stays.
    pub(crate) fn leave(&self, error: &ErrorObject) {
        self.state().streams.leave();
        self.end_calls(error);
        self.shut();
    }

    /// Answers each call that is at work with an error.
    pub(crate) fn end_calls(&self, error: &ErrorObject) {
        let mut state = self.state();
        state.connection.end_calls(error);
        self.perform(state, Manner::InTurn);
    }

    /// Tells the client of a session of all that it listens to: what has changed meanwhile is not known.
    pub(crate) fn missed_changes(&self) {
        let mut state = self.state();
        let record = state.streams.kept().and_then(|kept| kept.record.as_ref());
        let uris = record.map(|record| record.subscribed());
        driver::missed_changes(&mut state.connection, &uris.unwrap_or_default());
        self.perform(state, Manner::Unbidden);
    }

    /// Begins where no number is taken by a replica that ran the session before.
    pub(crate) fn count_from(&self, generation: u32) {
        let (mut state, first) = (self.state(), u64::from(generation) << 32);
        driver::count_from(&mut state.connection, first);
        state.streams.count_from(first);
    }

    /// Returns the event that a stream of this exchange begins with, if its client can have the rest again.
    pub(crate) fn prime(&self, exchange: Exchange) -> Option<EventId> {
        self.state().streams.prime(exchange)
    }

    /// Returns whether what was said in the session can be had again.
    pub(crate) fn resumes(&self) -> bool {
        let mut state = self.state();
        state.streams.kept().is_some_and(|kept| kept.resumes)
    }

    /// Sends what followed an event on its stream there, as it was read from what is kept, and what follows from now on.
    /// Gives the outbox back if more has been said since it was read, or if what ended the stream is not among it. Says whether
    /// the stream ends with a last text, rather than with the session.
    pub(crate) fn resume(
        &self,
        behind: EventId,
        events: Vec<KeptEvent>,
        outbox: Outbox,
    ) -> Result<bool, Outbox> {
        self.state().streams.resume(behind, events, outbox)
    }

    /// Returns the number of bytes that are kept of the identity and capabilities of the session's client.
    pub(crate) fn session_bytes(&self) -> usize {
        driver::session_bytes(&self.state().connection)
    }

    /// Returns whether no request is at work, and no client listens.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        // Calls of adapters go on as long as the session does.
        state.connection.unanswered() == 0 && !state.streams.has_reader()
    }

    /// Sets the owner of the driver, and the connection over which it is opened, if that is known; the first ones stay.
    pub(crate) fn opened_by(&self, owner: Owner, connection: Option<&PeerConnection>) {
        let _ = self.owner.set(owner);
        if let Some(connection) = connection {
            let _ = self.connection.set(connection.clone());
        }
    }

    /// Returns whether the peer gives up what came in this exchange by hanging up.
    pub(crate) fn is_given_up_by_hanging_up(&self, exchange: Exchange) -> bool {
        self.state().connection.is_given_up_by_hanging_up(exchange)
    }

    /// Gives up calls whose answers have no reader, because the peer hung up.
    pub(crate) fn hung_up(&self, exchange: Exchange) {
        let mut state = self.state();
        state.connection.ended(exchange, self.now());
        // No application is looked for any more where no message waits for it.
        if !state.connection.is_introducing()
            && let Some((task, _)) = state.work.as_mut().and_then(|it| it.introduction.take())
        {
            task.abort();
        }
        self.perform(state, Manner::InTurn);
        self.state().streams.end(exchange);
    }
}
