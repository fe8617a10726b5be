//! Answers of the application, on their way to the peer; and requests that need none any more.

use std::sync::Arc;
use std::time::Duration;

use mcp_registry::NeedsState;
use mcp_wire::{ErrorObject, Json, Kind, Members, Reader};

use super::adapter::{NeedsAdapter, Occasion};
use super::call::{Cancelled, Client, Event, Fate, Output, Token};
use super::channel::Channel;
use super::translate::{Translated, no_params};
use super::{Server, batch};
use crate::revisions::{Spoken, is_legacy};
use crate::{errors, meta};

impl<App: Spoken> Server<App> {
    /// Answers a request, in the words of the application's revision.
    ///
    /// The answer goes out in the peer's revision; what that lost is in the output.
    /// What the peer's revision cannot say becomes an error for the peer: a request is answered exactly once, come
    /// what may. A token that is not known any more is not an error, for the request may just have been cancelled.
    pub fn answer(
        &self,
        channel: &mut Channel,
        token: Token,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Output {
        let Some(pending) = channel.get(token) else {
            return Output::of(Fate::Unknown);
        };
        let (method, peer) = (pending.method, pending.peer);
        let client = Arc::clone(&pending.client);
        if let Some((adapter, called)) = pending.called
            && called != method
        {
            let params = pending.params.clone().unwrap_or_else(no_params);
            let occasion = Occasion::Result {
                token,
                method: called,
                params: &params,
                result: result.as_ref(),
                peer,
            };
            if let Some(output) = self.run_machine(channel, adapter, occasion, now) {
                return output;
            }
        }
        let result = match result {
            Ok(result) if result.kind() != Kind::Object => {
                Err(errors::internal("the server gave a result that is no object").error)
            }
            Ok(result) => match undeclared(&result, &client, peer) {
                Some(refusal) => Err(refusal.error),
                None => Ok(result),
            },
            error => error,
        };
        match result {
            Ok(result) => match self.result_out(method, result.clone(), peer) {
                Translated::NeedsState(needs) => {
                    self.adapt(channel, token, &needs, Ok(result), now)
                }
                translated => self.deliver(channel, token, translated.map(Ok)),
            },
            Err(error) => match self.error_out(method, error.clone(), peer) {
                Translated::NeedsState(needs) => {
                    self.adapt(channel, token, &needs, Err(error), now)
                }
                translated => self.deliver(channel, token, translated.map(Err)),
            },
        }
    }

    /// Gives up a request: the peer cancelled it, closed the stream that its answer would take, or is gone.
    ///
    /// [`receive`](Self::receive) does this by itself for `notifications/cancelled`.
    pub fn cancel(
        &self,
        channel: &mut Channel,
        token: Token,
        reason: Option<String>,
        now: Duration,
    ) -> Output {
        let Some(pending) = channel.take(token) else {
            return Output::of(Fate::Unknown);
        };
        let exchange = pending.exchange;
        let mut output = Output::of(Fate::Sent);
        if let Some((adapter, _)) = pending.called
            && let Some(more) =
                self.run_machine(channel, adapter, Occasion::Cancelled { token }, now)
        {
            output.send.extend(more.send);
            output.events.extend(more.events);
        }
        let rest = if pending.in_batch {
            batch::complete(channel, exchange)
        } else {
            None
        };
        let ends_exchange = rest.is_none() && !channel.batches.contains_key(&exchange);
        output.send.extend(rest);
        output.events.push(Event::Cancelled(Cancelled {
            token,
            exchange,
            ends_exchange,
            reason,
        }));
        output
    }

    fn deliver(
        &self,
        channel: &mut Channel,
        token: Token,
        translated: Translated<Result<Json, ErrorObject>>,
    ) -> Output {
        let Some(pending) = channel.get(token) else {
            return Output::of(Fate::Unknown);
        };
        let (method, peer) = (pending.method, pending.peer);
        let (result, losses, fate) = match translated {
            Translated::Done(result, losses) => (result, losses, Fate::Sent),
            Translated::Rejected(error) => {
                (Err((*error).clone()), Vec::new(), Fate::Refused(error))
            }
            Translated::Swallowed(rule) => {
                let error = errors::internal("the revision of the client has no such answer").error;
                (Err(error), Vec::new(), Fate::Swallowed(rule))
            }
            // Handled by the caller.
            Translated::NeedsState(needs) => {
                let needs = NeedsAdapter::new(&needs, method, peer);
                (
                    Err(errors::internal(&needs.to_string()).error),
                    Vec::new(),
                    Fate::NeedsAdapter(needs),
                )
            }
        };
        self.report(method, peer, &losses);
        let result = match result {
            // Only the runtime knows the id that ties the end of a stream to its request.
            Ok(result) if method == LISTEN => Json::from_text(&meta::with(
                result.text(),
                meta::SUBSCRIPTION_ID,
                &Json::of(&pending.id),
            ))
            .map_err(|problem| errors::internal(&problem.to_string()).error),
            result => result,
        };
        let send = self
            .answer_as_is(channel, token, result)
            .into_iter()
            .collect();
        Output {
            send,
            events: Vec::new(),
            losses,
            fate,
        }
    }

    /// An answer that an adapter has to turn into something else.
    fn adapt(
        &self,
        channel: &mut Channel,
        token: Token,
        needs: &NeedsState,
        result: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Output {
        let Some(pending) = channel.get(token) else {
            return Output::of(Fate::Unknown);
        };
        let (method, peer) = (pending.method, pending.peer);
        let params = pending.params.clone().unwrap_or_else(no_params);
        let occasion = Occasion::Result {
            token,
            method,
            params: &params,
            result: result.as_ref(),
            peer,
        };
        match self.run_machine(channel, needs.adapter, occasion, now) {
            Some(output) => output,
            None => self.deliver(channel, token, Translated::NeedsState(needs.clone())),
        }
    }
}

/// The request whose stream carries what a modern client subscribed to.
pub(super) const LISTEN: &str = "subscriptions/listen";

impl<T> Translated<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Translated<U> {
        match self {
            Self::Done(value, losses) => Translated::Done(change(value), losses),
            Self::NeedsState(needs) => Translated::NeedsState(needs),
            Self::Rejected(error) => Translated::Rejected(error),
            Self::Swallowed(rule) => Translated::Swallowed(rule),
        }
    }
}

/// The refusal of a result that asks the client for what it did not declare.
fn undeclared(
    result: &Json,
    client: &Client,
    peer: mcp_registry::Revision,
) -> Option<Box<errors::Refusal>> {
    static RESULT: Members = Members::ignoring("result", &["resultType", "inputRequests"]);
    static REQUEST: Members = Members::ignoring("request", &["method"]);
    if is_legacy(peer) || !result.text().contains("\"input_required\"") {
        return None;
    }
    let mut reader = Reader::new(result.text());
    let mut object = reader.object(&RESULT).ok()?;
    let (mut asks, mut requests) = (false, None);
    while let Some(member) = object.next(&mut reader).ok()? {
        match member {
            0 => asks = reader.text_of_value().ok()? == "\"input_required\"",
            _ => requests = reader.value::<mcp_wire::Map<Json>>().ok(),
        }
    }
    let missing = requests
        .filter(|_| asks)?
        .into_iter()
        .find_map(|(_, request)| {
            let mut reader = Reader::new(request.text());
            let mut object = reader.object(&REQUEST).ok()?;
            let mut method = None;
            while object.next(&mut reader).ok()?.is_some() {
                method = reader.text_of_string().ok();
            }
            capability_of(&method?).filter(|capability| !client.can(capability))
        })?;
    Json::from_text(&format!("{{\"{missing}\":{{}}}}"))
        .ok()
        .map(|required| errors::missing_capability(&required))
}

/// The client capability that a request of the server needs.
pub(super) fn capability_of(method: &str) -> Option<&'static str> {
    match method {
        "elicitation/create" => Some("elicitation"),
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        _ => None,
    }
}
