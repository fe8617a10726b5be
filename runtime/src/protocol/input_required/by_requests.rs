//! Per-request handlers, handshake client: input that a result requires is asked by requests to the client, whose own waits.

use std::time::Duration;

use mcp_protocol::Revision;
use mcp_wire::{ErrorObject, Json, Map};

use super::{Question, known, read};
use crate::errors;
use crate::protocol::Token;
use crate::protocol::json::with_members;
use crate::protocol::numbered::Numbered;
use crate::protocol::occasion::{About, Occasion, Step, World};
use crate::protocol::translate::Way;

/// The calls whose client is being asked.
#[derive(Debug, Default)]
pub(in crate::protocol) struct ByRequests {
    calls: Numbered<Token, Round>,
    asked: Numbered<u64, Asked>,
    last_key: u64,
}

/// One round of questions of a call.
#[derive(Debug)]
struct Round {
    method: &'static str,
    params: Json,
    state: Option<Json>,
    answers: Map<Json>,
    open: usize,
    until: Duration,
    peer: Revision,
}

/// A question on its way.
#[derive(Debug)]
struct Asked {
    token: Token,
    name: String,
    method: &'static str,
}

impl ByRequests {
    pub(in crate::protocol) fn on(
        &mut self,
        occasion: Occasion<'_>,
        world: &World<'_>,
    ) -> Option<Vec<Step>> {
        match occasion {
            Occasion::Result {
                about,
                result: Ok(result),
            } => Some(self.ask(about, result, world)),
            Occasion::Answered { key, result } => Some(self.answered(key, result, world)),
            Occasion::Cancelled { token } => {
                self.calls.remove(&token);
                Some(self.unask(token))
            }
            Occasion::Time => Some(self.late(world.now)),
            _ => None,
        }
    }

    pub(in crate::protocol) fn wake_at(&self) -> Option<Duration> {
        self.calls.values().map(|round| round.until).min()
    }
}

impl ByRequests {
    /// Asks the client for the input that the handler's result requires.
    fn ask(&mut self, about: &About, result: &Json, world: &World<'_>) -> Vec<Step> {
        let refused = |error| vec![Step::Answer(about.token, Err(error))];
        if about.rounds >= world.limits.max_input_rounds {
            return refused(errors::asked_too_often(world.limits.max_input_rounds).error);
        }
        let wrong = |why: &str| {
            refused(errors::internal(&format!("the server asks for input: {why}")).error)
        };
        let (questions, state) = match read(result, world.limits.max_input_requests) {
            Ok(read) => read,
            Err(why) => return wrong(&why),
        };
        let mut asks = Vec::new();
        for Question {
            name,
            method,
            params,
        } in questions
        {
            let Some(method) = known(&method) else {
                return wrong("of no known method");
            };
            match world.question(about, method, &params) {
                Ok(params) => asks.push((name, method, params)),
                Err(error) => {
                    return refused(world.translator.error_out(about.method, error, about.peer));
                }
            }
        }
        let round = Round {
            method: about.method,
            params: about.params.clone(),
            state,
            answers: Map::new(),
            open: asks.len(),
            until: world.now + world.limits.client_response_timeout,
            peer: about.peer,
        };
        if asks.is_empty() {
            return vec![again(about.token, round)];
        }
        self.calls.insert(about.token, round);
        let ask = |(name, method, params)| {
            self.last_key += 1;
            let asked = Asked {
                token: about.token,
                name,
                method,
            };
            self.asked.insert(self.last_key, asked);
            Step::Ask {
                key: self.last_key,
                about: Some(about.token),
                method,
                params,
            }
        };
        asks.into_iter().map(ask).collect()
    }

    fn answered(
        &mut self,
        key: u64,
        result: Result<&Json, &ErrorObject>,
        world: &World<'_>,
    ) -> Vec<Step> {
        let Some(Asked {
            token,
            name,
            method,
        }) = self.asked.remove(&key)
        else {
            return Vec::new();
        };
        let Some(round) = self.calls.get_mut(&token) else {
            return Vec::new();
        };
        let answer = match result {
            Ok(result) => (world
                .translator
                .result_told(Way::In, method, result, round.peer))
            .map_err(|stopped| stopped.into_error(ErrorObject::INVALID_PARAMS)),
            // In the modern lifecycle no answer of a client is an error: it is the client's own, and ends its request.
            Err(error) => Err(error.clone()),
        };
        match answer {
            Ok((answer, _)) => {
                round.answers.insert(name.as_str(), answer);
                round.open = round.open.saturating_sub(1);
                if round.open > 0 {
                    return Vec::new();
                }
                let round = self.calls.remove(&token);
                round.map(|round| again(token, round)).into_iter().collect()
            }
            Err(error) => self.fail(token, error),
        }
    }

    fn late(&mut self, now: Duration) -> Vec<Step> {
        let late: Vec<Token> = (self.calls.iter())
            .filter(|(_, round)| round.until <= now)
            .map(|(token, _)| *token)
            .collect();
        let fail = |token| {
            self.fail(
                token,
                errors::internal("the client did not answer in time").error,
            )
        };
        late.into_iter().flat_map(fail).collect()
    }

    fn fail(&mut self, token: Token, error: ErrorObject) -> Vec<Step> {
        self.calls.remove(&token);
        let mut steps = self.unask(token);
        steps.push(Step::Answer(token, Err(error)));
        steps
    }

    /// The questions of a call are not waited for any more.
    fn unask(&mut self, token: Token) -> Vec<Step> {
        let open = self.asked.iter().filter(|(_, asked)| asked.token == token);
        let steps = open.map(|(key, _)| Step::Unask { key: *key }).collect();
        self.asked.retain(|_, asked| asked.token != token);
        steps
    }
}

/// The handler is called again, with the answers.
fn again(token: Token, round: Round) -> Step {
    let Round {
        method,
        params,
        state,
        answers,
        ..
    } = round;
    let members = [
        ("inputResponses", Some(Json::of(&answers))),
        ("requestState", state),
    ];
    let params = with_members(&params, &members);
    Step::Call {
        token,
        method,
        params,
    }
}
