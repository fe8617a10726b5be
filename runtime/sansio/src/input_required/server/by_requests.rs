//! Per-request handlers, handshake client: input that a result requires is asked by requests to the client, whose own waits.

use std::time::Duration;

use mcp_revisions_core::Revision;
use mcp_wire::{ErrorObject, Json, Map};

use super::{EmbeddedQuestion, question_method, read};
use crate::errors;
use crate::json::with_members;
use crate::server::Server;
use crate::server::requests::{About, AskedBy};
use crate::translate::{TextDirection, no_params};
use crate::{Connection, Token};

/// One round of questions of a call.
#[derive(Debug)]
pub(crate) struct ServerRound {
    state: Option<Json>,
    answers: Map<Json>,
    open: usize,
}

impl Connection<Server> {
    /// Asks the client for the input that the handler's result requires.
    pub(crate) fn ask_by_requests(&mut self, about: &About, result: &Json, now: Duration) {
        match self.begin_round(about, result, now) {
            Ok(()) => self.go_on(about.token),
            Err(error) => self.fail_round(about.token, error),
        }
    }

    fn begin_round(
        &mut self,
        about: &About,
        result: &Json,
        now: Duration,
    ) -> Result<(), ErrorObject> {
        let limits = &self.role.limits;
        if about.rounds >= limits.max_input_rounds {
            return Err(errors::asked_too_often(limits.max_input_rounds).error);
        }
        let wrong =
            |why: &str| errors::internal(&format!("the server asks for input: {why}")).error;
        let (questions, state) =
            read(result, limits.max_input_requests).map_err(|why| wrong(&why))?;
        let ask = |question: EmbeddedQuestion<String>| {
            let method =
                question_method(&question.method).ok_or_else(|| wrong("of no known method"))?;
            let asked = self.role.question(about, method, &question.params);
            let translator = &self.role.translator;
            let params =
                asked.map_err(|error| translator.error_out(about.method, error, about.revision))?;
            Ok((question.name, method, params))
        };
        let asks: Vec<_> = questions
            .into_iter()
            .map(ask)
            .collect::<Result<_, ErrorObject>>()?;
        let round = ServerRound {
            state,
            answers: Map::new(),
            open: asks.len(),
        };
        let call = about.token;
        self.state.rounds.insert(call, round);
        for (name, method, params) in asks {
            let by = AskedBy::Result { call, name };
            self.send_request(by, Some(call), (method, Some(&params)), now)?;
            if let Some(pending) = self.state.get_mut(call) {
                pending.is_adapted = true;
            }
        }
        Ok(())
    }

    /// Takes the client's answer to a question.
    pub(crate) fn answer_in_round(
        &mut self,
        call: Token,
        (name, method): (String, &str),
        peer: Revision,
        result: Result<Json, ErrorObject>,
    ) {
        let Some(round) = self.state.rounds.get_mut(&call) else {
            return;
        };
        let translator = &self.role.translator;
        // In the per-request lifecycle no answer of a client is an error: it is the client's own, and ends its request.
        let answer = result.and_then(|result| {
            (translator.result_told(TextDirection::In, method, &result, peer, None))
                .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS))
        });
        match answer {
            Ok((answer, _)) => {
                round.answers.insert(name, answer);
                round.open = round.open.saturating_sub(1);
                self.go_on(call);
            }
            Err(error) => self.fail_round(call, error),
        }
    }

    /// Calls the handler again with the answers, if all are there.
    fn go_on(&mut self, call: Token) {
        let open = self.state.rounds.get(&call).map(|round| round.open);
        let round = open
            .filter(|open| *open == 0)
            .and_then(|_| self.state.rounds.remove(&call));
        let (Some(round), Some(pending)) = (round, self.state.get(call)) else {
            return;
        };
        let members = [
            ("inputResponses", Some(Json::of(&round.answers))),
            ("requestState", round.state),
        ];
        let params = pending.params.clone().unwrap_or_else(no_params);
        self.call_again(call, with_members(&params, &members));
    }

    /// Ends a call whose questions cannot be answered.
    pub(crate) fn fail_round(&mut self, call: Token, error: ErrorObject) {
        self.end_round(call);
        self.answer_as_is(call, Err(error));
    }

    /// The questions of a call are not waited for any more.
    pub(crate) fn end_round(&mut self, call: Token) {
        if self.state.rounds.remove(&call).is_none() {
            return;
        }
        let is_its = |by: &AskedBy| matches!(by, AskedBy::Result { call: one, .. } if *one == call);
        for id in self.state.asked.find_all(|asked| is_its(&asked.by)) {
            let _ = self.unask(id, None);
        }
    }

    /// Hands a request that still waits to the application once more, with other params.
    pub(crate) fn call_again(&mut self, token: Token, params: Json) {
        let Some(pending) = self.state.get_mut(token) else {
            return;
        };
        pending.rounds += 1;
        pending.params = Some(params.clone());
        let method = pending.method;
        self.call(token, method, params, Vec::new());
    }
}
