//! The metrics of a server: the calls of its handlers, and what messages lost.

use std::sync::Arc;

use ::metrics::{Label, counter};

use super::{OTHER, Operation};
use crate::serve::{AnyHandler, AppFuture, HandlerFuture, Peer, Session};
use mcp_revisions_sansio::server::MessageLosses;
use mcp_revisions_sansio::{Caller, CustomRequest, Event, IncomingRequest};

/// A handler whose calls are recorded in `mcp.server.operation.duration`.
struct MeasuredHandler {
    handler: Arc<dyn AnyHandler>,
    transport: &'static str,
}

/// Returns a handler whose calls are recorded; `transport` is `pipe` or `tcp`.
pub(crate) fn observed(
    handler: Arc<dyn AnyHandler>,
    transport: &'static str,
) -> Arc<dyn AnyHandler> {
    Arc::new(MeasuredHandler { handler, transport })
}

/// A call of a handler; one whose client is gone is recorded when it is dropped.
struct ServerOperation(Option<Operation>);

impl Drop for ServerOperation {
    fn drop(&mut self) {
        if let Some(mut operation) = self.0.take() {
            operation.end(Some("cancelled".into()));
        }
    }
}

impl AnyHandler for MeasuredHandler {
    fn call(self: Arc<Self>, request: Event, peer: Peer) -> HandlerFuture {
        let (method, revision) = match &request {
            Event::Request(IncomingRequest {
                method,
                revision: peer,
                ..
            }) => (*method, *peer),
            Event::CustomRequest(CustomRequest { revision: peer, .. }) => (OTHER, *peer),
            _ => return Arc::clone(&self.handler).call(request, peer),
        };
        let mut operation = Operation::begin("mcp.server.operation.duration", method);
        operation.spoken(revision);
        operation.labels.push(Label::from_static_parts(
            "network.transport",
            self.transport,
        ));
        let mut operation = ServerOperation(Some(operation));
        let running = Arc::clone(&self.handler).call(request, peer);
        Box::pin(async move {
            let answer = running.await;
            if let Some(mut operation) = operation.0.take() {
                let error = operation.error(answer.as_ref());
                operation.end(error);
            }
            answer
        })
    }

    fn application(self: Arc<Self>, caller: Arc<Caller>, session: Session) -> AppFuture {
        Arc::clone(&self.handler).application(caller, session)
    }

    fn note(&self, event: Event, session: Session) {
        self.handler.note(event, session);
    }
}

/// Counts what a message lost, and one that was not delivered.
pub(crate) fn lost(lost: &MessageLosses<'_>) {
    for loss in lost.losses.iter().filter(|it| it.is_loss()) {
        let (rule, severity) = (loss.rule(), loss.severity().as_str());
        counter!("mcp_revisions_losses_total", "end" => "client", "rule" => rule, "severity" => severity).increment(1);
    }
    if let Some(rule) = lost.undelivered.and_then(|error| error.rule()) {
        counter!("mcp_revisions_undelivered_total", "end" => "client", "rule" => rule).increment(1);
    }
}
