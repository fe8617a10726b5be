//! Handlers that ask, per-request client: a question of a handler is sent as `input_required`, and the handler is
//! suspended until the client retries with the answers and the signed `requestState`.
//!
//! A suspended call lives in one process: a retry that another replica gets fails with an error that says so.

use std::time::Duration;

use mcp_revisions_core::{Context, Loss, RequiresState, Revision, methods, values::TABLES};
use mcp_wire::{ErrorObject, Json, JsonObject, Map, envelope::write::response};

use super::seal::{Bound, IssuedState, StateFault};
use super::{EmbeddedQuestion, allowed, question_method, write};
use crate::errors;
use crate::input_required::{accepts, pages};
use crate::json::with_members;
use crate::limits::deadline;
use crate::server::Server;
use crate::server::reply::Outgoing;
use crate::server::requests::About;
use crate::translate::TextDirection;
use crate::{Caller, Connection, Event, Token};

/// A handler that waits for its client.
#[derive(Debug)]
pub(crate) struct SuspendedCall {
    token: Token,
    revision: Revision,
    subject: String,
    principal: Option<String>,
    method: &'static str,
    /// The questions that the client has been asked.
    asked: Vec<OpenQuestion>,
    /// The questions that the handler asked since: for the next round.
    later: Vec<OpenQuestion>,
    rounds: u32,
    pub(crate) until: Duration,
}

/// A question of the handler, in the words of the client.
#[derive(Debug)]
struct OpenQuestion {
    /// The request of the application.
    ask: Token,
    question: EmbeddedQuestion,
}

impl Connection<Server> {
    /// Suspends the call of a handler that asks; if it is suspended already, the question is kept for the next round.
    pub(crate) fn suspend(
        &mut self,
        ask: Token,
        about: &About,
        (method, params): (&str, &Json),
        now: Duration,
    ) {
        if let Err(error) = self.ask_in_result(ask, about, (method, params), now) {
            self.deliver_to_application(ask, Err(error));
        }
    }

    fn ask_in_result(
        &mut self,
        ask: Token,
        about: &About,
        (method, params): (&str, &Json),
        now: Duration,
    ) -> Result<(), ErrorObject> {
        let limits = self.role.limits;
        let asked_too_often = || errors::asked_too_often(limits.max_input_rounds).error;
        let asks_back = (self.role.translator).may_ask_back(about.revision, about.method);
        let (Some(method), true) = (question_method(method), asks_back) else {
            let why = "a client of a per-request revision can be asked while it calls a tool, reads a resource or gets a prompt";
            return Err(errors::internal(why).error);
        };
        let question = EmbeddedQuestion {
            name: format!("q{}", ask.0),
            method,
            params: self.role.question(about, method, params)?,
        };
        let open = OpenQuestion { ask, question };
        let is_it = |call: &&mut SuspendedCall| call.token == about.token;
        if let Some(call) = self.state.suspended.values_mut().find(is_it) {
            if call.later.len() >= limits.max_input_rounds as usize {
                return Err(asked_too_often());
            }
            call.later.push(open);
            return Ok(());
        }
        if about.rounds >= limits.max_input_rounds {
            return Err(asked_too_often());
        }
        if self.state.suspended.len() >= limits.max_suspended_requests {
            return Err(errors::too_many_pending(limits.max_suspended_requests).error);
        }
        self.ask_client(SuspendedCall {
            token: about.token,
            revision: about.revision,
            subject: about.subject.clone().unwrap_or_default(),
            principal: about.principal.clone(),
            method: about.method,
            asked: vec![open],
            later: Vec::new(),
            rounds: about.rounds,
            until: deadline(now, limits.client_response_timeout),
        })
    }

    /// Answers a request with the questions of its call, and keeps the call.
    fn ask_client(&mut self, call: SuspendedCall) -> Result<(), ErrorObject> {
        let ticket = self.role.seal.ticket();
        let bound = Bound {
            method: call.method,
            subject: &call.subject,
            principal: call.principal.as_deref(),
        };
        let issued = IssuedState::Suspended(ticket);
        let state = (self.role.seal.sign(&issued, call.until, bound))
            .ok_or_else(|| errors::internal("the system gave no randomness to sign with").error)?;
        let questions = call.asked.iter().map(|open| &open.question);
        let result = write(questions, &state, &self.role.translator, call.revision);
        let token = call.token;
        self.state.suspended.insert(ticket, call);
        self.answer_with_questions(token, ticket, result);
        Ok(())
    }

    /// Takes the retry of the client.
    pub(crate) fn retry(&mut self, about: &About, now: Duration) {
        if let Err(error) = self.take_retry(about, now) {
            self.answer_as_is(about.token, Err(error));
        }
    }

    fn take_retry(&mut self, about: &About, now: Duration) -> Result<(), ErrorObject> {
        let invalid = |why: &str| errors::invalid_params(why).error;
        let params = JsonObject::try_from(about.params.clone())
            .map_err(|_| invalid("`params` is not an object"))?;
        let state = params.get("requestState");
        let Some(state) = state.as_ref().and_then(Json::as_str) else {
            return Err(invalid(
                "`inputResponses` without the `requestState` that came with the questions",
            ));
        };
        let ticket = match self.role.seal.open(&state, now, about.bound()) {
            Ok(IssuedState::Suspended(ticket)) => ticket,
            Ok(IssuedState::Again) => {
                let params = self.role.anew(about, &params)?;
                self.call_again(about.token, params);
                return Ok(());
            }
            // Another application signed it by the same key.
            Ok(IssuedState::Own(..) | IssuedState::Once(..)) => {
                return Err(StateFault::Forged.refusal().error);
            }
            Err(broken) => return Err(broken.refusal().error),
        };
        let waits = |call: &&SuspendedCall| self.state.get(call.token).is_some();
        let Some(call) = self.state.suspended.get(&ticket).filter(waits) else {
            return Err(invalid(
                "nothing waits for this `requestState` in this server process any more: make the request again",
            ));
        };
        let responses = params.get("inputResponses").unwrap_or_default();
        let answer = |open: &OpenQuestion| {
            let EmbeddedQuestion { name, method, .. } = &open.question;
            let answer = responses.get(name)?;
            let carried = (self.role.translator).answer_told(method, &answer, call.revision);
            Some(carried.map(|(answer, _)| (open.ask, answer)))
        };
        // The client may retry with an answer that can be read: the handler has not seen this one.
        let answers = call.asked.iter().filter_map(answer);
        let answers = answers
            .collect::<Result<Vec<(Token, Json)>, _>>()
            .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS))?;
        let Some(mut call) = self.state.suspended.remove(&ticket) else {
            return Ok(());
        };
        self.resume(call.token, about.token, now);
        for (ask, answer) in answers {
            call.asked.retain(|open| open.ask != ask);
            self.deliver_to_application(ask, Ok(answer));
        }
        call.asked.append(&mut call.later);
        // The handler may have answered while it was suspended.
        if call.asked.is_empty() || self.state.get(call.token).is_none() {
            return Ok(());
        }
        call.rounds += 1;
        call.until = deadline(now, self.role.limits.client_response_timeout);
        let most = self.role.limits.max_input_rounds;
        if call.rounds >= most {
            for open in call.asked {
                let error = errors::asked_too_often(most).error;
                self.deliver_to_application(open.ask, Err(error));
            }
            return Ok(());
        }
        let token = call.token;
        if let Err(error) = self.ask_client(call) {
            self.answer_as_is(token, Err(error));
        }
        Ok(())
    }

    /// The application does not wait any more for the answer to its request.
    pub(crate) fn forget_question(&mut self, ask: Token) {
        for call in self.state.suspended.values_mut() {
            call.asked.retain(|open| open.ask != ask);
            call.later.retain(|open| open.ask != ask);
        }
    }

    /// A call is not waited for any more.
    pub(crate) fn end_suspended(&mut self, token: Token) {
        self.state.suspended.retain(|_, call| call.token != token);
    }

    /// Gives up the calls whose client has not retried in time.
    pub(crate) fn late_suspended(&mut self, now: Duration) {
        let late: Vec<Token> = self
            .state
            .suspended
            .values()
            .filter(|call| call.until <= now)
            .map(|call| call.token)
            .collect();
        for token in late {
            self.end_suspended(token);
            let _ = self.give_up(token, None, now);
        }
    }

    /// Turns the error by which older handlers ask to visit a page into a result that asks a per-request client to, which
    /// then retries. Returns false if the error is another one, or the client cannot be asked.
    pub(crate) fn elicit(&mut self, about: &About, error: &ErrorObject, now: Duration) -> bool {
        let result = self.role.elicitation(about, error, now);
        let is_one = result.is_some();
        if let Some(result) = result {
            self.answer_as_is(about.token, Ok(result));
        }
        is_one
    }

    /// Answers a request for now, while the application goes on with its call.
    pub(crate) fn answer_with_questions(&mut self, token: Token, ticket: u64, result: Json) {
        let Some(pending) = self.state.get_mut(token) else {
            return;
        };
        pending.is_adapted = true;
        let exchange = pending.exchange;
        let body = response(&pending.id, &self.role.signed(result, pending.revision));
        self.state.suspend(token);
        self.state.end_exchange(exchange);
        // The client may retry as soon as it has the answer: the transport has to know the ticket by then.
        self.tell(Event::Suspended { token, ticket });
        self.send(Outgoing::last(exchange, 200, body));
    }

    /// Continues a suspended request in the place of the one by which its client has retried.
    pub(crate) fn resume(&mut self, token: Token, by: Token, now: Duration) {
        let Some(exchange) = self.state.resume(token, by) else {
            return;
        };
        self.tell(Event::Resumed { token, exchange });
        let pending = self.state.get_mut(token);
        if let Some(result) = pending.and_then(|pending| pending.early.take()) {
            let _ = self.answer(token, result, now);
        }
    }
}

impl Server {
    /// Returns the result that asks for what an error asks for.
    fn elicitation(&self, about: &About, error: &ErrorObject, now: Duration) -> Option<Json> {
        let method = question_method(methods::ELICITATION_CREATE)?;
        let question = |(index, params): (usize, Json)| {
            Some(EmbeddedQuestion {
                name: format!("q{index}"),
                method,
                params: self.question(about, method, &params).ok()?,
            })
        };
        let pages = pages(error)?.into_iter().enumerate();
        let questions: Vec<EmbeddedQuestion> = pages.map(question).collect::<Option<_>>()?;
        if questions.is_empty() {
            return None;
        }
        about.subject.as_ref()?;
        let until = deadline(now, self.limits.client_response_timeout);
        let state = (self.seal).sign(&IssuedState::Again, until, about.bound())?;
        Some(write(&questions, &state, &self.translator, about.revision))
    }

    /// Returns the params by which the handlers are called as if for the first time, after the retry of the client. Fails for a
    /// client that declined.
    fn anew(&self, about: &About, params: &JsonObject) -> Result<Json, ErrorObject> {
        let responses: Map<Json> = params
            .get("inputResponses")
            .and_then(|it| it.read().ok())
            .unwrap_or_default();
        if responses.is_empty() || !responses.values().all(accepts) {
            return Err(
                errors::invalid_params("the call needs what its client would not do").error,
            );
        }
        let members = [("inputResponses", None), ("requestState", None)];
        let plain = with_members(&about.params, &members);
        let carried = (self.translator).params_told(
            TextDirection::In,
            about.method,
            &plain,
            about.revision,
            None,
        );
        carried
            .map(|(params, _)| params)
            .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS))
    }
}

/// Returns the error for a client that cannot be asked in the place of an error of older handlers, with what that loses.
///
/// A client that did not declare that it opens URLs gets an error that says so, without the message of the handlers.
/// An error that names no URL keeps its message and data under the code of an internal error.
pub(crate) fn in_place_of(
    error: ErrorObject,
    caller: &Caller,
    needs: &RequiresState,
) -> (ErrorObject, Vec<Loss>) {
    let mut cx = Context::default();
    cx.enter(needs.step);
    let undeclared = pages(&error).and_then(|pages| {
        let refusals = pages
            .iter()
            .map(|page| allowed(caller, methods::ELICITATION_CREATE, page));
        refusals.filter_map(Result::err).next()
    });
    let rule = TABLES.rule(needs.step, needs.rule);
    let told = match undeclared {
        Some(refusal) => {
            // The server's message is for a person, who cannot be sent to its page.
            let message = if error.message.is_empty() {
                refusal.message
            } else {
                format!("{} ({})", error.message, refusal.message)
            };
            if let Some(rule) = rule {
                cx.under(rule).replace("/message", error.message);
                if let Some(data) = error.data {
                    cx.under(rule).replace("/data", data);
                }
                cx.under(rule).replace("/code", error.code);
            }
            ErrorObject { message, ..refusal }
        }
        None => {
            if let Some(rule) = rule {
                cx.under(rule).replace("/code", error.code.clone());
            }
            ErrorObject {
                code: ErrorObject::INTERNAL_ERROR.into(),
                ..error
            }
        }
    };
    (told, cx.losses().to_vec())
}
