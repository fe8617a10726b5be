//! Handlers that ask, per-request client: a question of a handler is sent as `input_required`, and the handler is
//! suspended until the client retries with the answers and the signed `requestState`.
//!
//! A suspended call lives in one process: a retry that another replica gets fails with an error that says so.

use std::time::Duration;

use mcp_protocol::{Context, Loss, RequiresState, Revision, TABLES};
use mcp_wire::{ErrorObject, Json, JsonObject, Map};

use super::seal::{Bound, Broken, Issued};
use super::{Question, allowed, known, write};
use crate::errors;
use crate::methods;
use crate::protocol::json::with_members;
use crate::protocol::numbered::Numbered;
use crate::protocol::occasion::{About, Occasion, Step, World};
use crate::protocol::translate::Way;
use crate::protocol::{Caller, Token};

/// The calls that wait for the retry of their client.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Suspended {
    parked: Numbered<u64, Parked>,
}

/// A handler that waits for its client.
#[derive(Debug)]
struct Parked {
    token: Token,
    peer: Revision,
    subject: String,
    principal: Option<String>,
    method: &'static str,
    /// What the client has been asked.
    asked: Vec<Open>,
    /// What the handler asked since: for the next round.
    later: Vec<Open>,
    rounds: u32,
    until: Duration,
}

/// A question of the handler, in the words of the client.
#[derive(Debug)]
struct Open {
    key: u64,
    question: Question,
}

impl Suspended {
    pub(in crate::protocol) fn on(
        &mut self,
        occasion: Occasion<'_>,
        world: &World<'_>,
    ) -> Option<Vec<Step>> {
        match occasion {
            Occasion::ServerRequest {
                key,
                about: Some(about),
                method,
                params,
            } => Some(self.ask(key, about, method, params, world)),
            Occasion::Result {
                about,
                result: Err(error),
            } => elicit(about, error, world).map(|step| vec![step]),
            Occasion::Request(about) => Some(self.retry(about, world)),
            Occasion::Forgotten { key } => {
                for parked in self.parked.values_mut() {
                    parked.asked.retain(|open| open.key != key);
                    parked.later.retain(|open| open.key != key);
                }
                Some(Vec::new())
            }
            Occasion::Cancelled { token } => {
                self.parked.retain(|_, parked| parked.token != token);
                Some(Vec::new())
            }
            Occasion::Time => {
                let now = world.now;
                let is_late = |parked: &&Parked| parked.until <= now;
                let late = self.parked.values().filter(is_late);
                let steps = late.map(|parked| Step::GiveUp(parked.token)).collect();
                self.parked.retain(|_, parked| parked.until > now);
                Some(steps)
            }
            _ => None,
        }
    }

    pub(in crate::protocol) fn wake_at(&self) -> Option<Duration> {
        self.parked.values().map(|parked| parked.until).min()
    }
}

impl Suspended {
    /// Suspends the call of a handler that asks; if it is suspended already, the question is kept for the next round.
    fn ask(
        &mut self,
        key: u64,
        about: &About,
        method: &str,
        params: &Json,
        world: &World<'_>,
    ) -> Vec<Step> {
        let refused = |error| {
            vec![Step::Deliver {
                key,
                result: Err(error),
            }]
        };
        let asks_back = world.translator.may_ask_back(about.peer, about.method);
        let (Some(method), true) = (known(method), asks_back) else {
            let why = "a client of a per-request revision can be asked while it calls a tool, reads a resource or gets a prompt";
            return refused(errors::internal(why).error);
        };
        let params = match world.question(about, method, params) {
            Ok(params) => params,
            Err(error) => return refused(error),
        };
        let open = Open {
            key,
            question: Question {
                name: format!("q{key}"),
                method,
                params,
            },
        };
        if let Some(parked) = self
            .parked
            .values_mut()
            .find(|parked| parked.token == about.token)
        {
            if parked.later.len() >= world.limits.max_input_rounds as usize {
                return refused(errors::asked_too_often(world.limits.max_input_rounds).error);
            }
            parked.later.push(open);
            return Vec::new();
        }
        if about.rounds >= world.limits.max_input_rounds {
            return refused(errors::asked_too_often(world.limits.max_input_rounds).error);
        }
        if self.parked.len() >= world.limits.max_suspended_requests {
            return refused(errors::too_many_pending(world.limits.max_suspended_requests).error);
        }
        let parked = Parked {
            token: about.token,
            peer: about.peer,
            subject: about.subject.clone().unwrap_or_default(),
            principal: about.principal.clone(),
            method: about.method,
            asked: vec![open],
            later: Vec::new(),
            rounds: about.rounds,
            until: world.now + world.limits.client_response_timeout,
        };
        match self.park(about.token, parked, world) {
            Ok(step) => vec![step],
            Err(error) => refused(error),
        }
    }

    /// Answers the request `on` with the questions of a call, and keeps the call.
    fn park(&mut self, on: Token, parked: Parked, world: &World<'_>) -> Result<Step, ErrorObject> {
        let ticket = world.seal.ticket();
        let bound = Bound {
            method: parked.method,
            subject: &parked.subject,
            principal: parked.principal.as_deref(),
        };
        let issued = Issued::Suspended(ticket);
        let state = (world.seal.sign(&issued, parked.until, bound))
            .ok_or_else(|| errors::internal("the system gave no randomness to sign with").error)?;
        let questions: Vec<Question> = parked
            .asked
            .iter()
            .map(|open| open.question.clone())
            .collect();
        let peer = parked.peer;
        self.parked.insert(ticket, parked);
        Ok(Step::Park {
            token: on,
            ticket,
            result: write(&questions, &state, world, peer),
        })
    }

    /// Takes the retry of the client.
    fn retry(&mut self, about: &About, world: &World<'_>) -> Vec<Step> {
        let refused = |error| vec![Step::Answer(about.token, Err(error))];
        let invalid = |why: &str| refused(errors::invalid_params(why).error);
        let Ok(params) = JsonObject::try_from(about.params.clone()) else {
            return invalid("params are no object");
        };
        let state = params.get("requestState");
        let Some(state) = state.as_ref().and_then(Json::as_str) else {
            return invalid(
                "`inputResponses` without the `requestState` that came with the questions",
            );
        };
        let ticket = match world.seal.open(&state, world.now, about.bound()) {
            Ok(Issued::Suspended(ticket)) => ticket,
            Ok(Issued::Again) => return vec![anew(about, &params, world)],
            // Another application signed it by the same key.
            Ok(Issued::Own(_)) => return invalid(&Broken::Forged.to_string()),
            Err(broken) => return invalid(&broken.to_string()),
        };
        let Some(mut parked) = self.parked.remove(&ticket) else {
            return invalid(
                "nothing waits for this `requestState` in this server process any more: make the request again",
            );
        };
        let responses = params.get("inputResponses").unwrap_or_default();
        let mut answers = Vec::new();
        for open in &parked.asked {
            let Question { name, method, .. } = &open.question;
            let Some(answer) = responses.get(name) else {
                continue;
            };
            match world
                .translator
                .result_told(Way::In, method, &answer, parked.peer)
            {
                Ok((answer, _)) => answers.push((open.key, answer)),
                Err(stopped) => {
                    // It may come again with a better one: nothing has been told to the handler.
                    self.parked.insert(ticket, parked);
                    return refused(stopped.into_error(ErrorObject::INVALID_PARAMS));
                }
            }
        }
        let original = parked.token;
        let mut steps = vec![Step::Resume {
            parked: original,
            by: about.token,
        }];
        for (key, answer) in answers {
            parked.asked.retain(|open| open.key != key);
            steps.push(Step::Deliver {
                key,
                result: Ok(answer),
            });
        }
        parked.asked.append(&mut parked.later);
        if parked.asked.is_empty() {
            return steps;
        }
        parked.rounds += 1;
        parked.until = world.now + world.limits.client_response_timeout;
        if parked.rounds >= world.limits.max_input_rounds {
            let error = errors::asked_too_often(world.limits.max_input_rounds).error;
            let deliver = |open: Open| Step::Deliver {
                key: open.key,
                result: Err(error.clone()),
            };
            steps.extend(parked.asked.into_iter().map(deliver));
            return steps;
        }
        match self.park(original, parked, world) {
            Ok(step) => steps.push(step),
            Err(error) => steps.push(Step::Answer(original, Err(error))),
        }
        steps
    }
}

/// Turns the error by which older handlers ask to visit a page into a result that asks a per-request client to, which then
/// retries. Returns `None` if the error is another one, or the client cannot be asked.
fn elicit(about: &About, error: &ErrorObject, world: &World<'_>) -> Option<Step> {
    let method = known(methods::ELICITATION_CREATE)?;
    let question = |(index, params): (usize, Json)| {
        let params = world.question(about, method, &params).ok()?;
        Some(Question {
            name: format!("q{index}"),
            method,
            params,
        })
    };
    let questions: Vec<Question> = pages(error)?
        .into_iter()
        .enumerate()
        .map(question)
        .collect::<Option<_>>()?;
    if questions.is_empty() {
        return None;
    }
    about.subject.as_ref()?;
    let until = world.now + world.limits.client_response_timeout;
    let state = (world.seal).sign(&Issued::Again, until, about.bound())?;
    let result = write(&questions, &state, world, about.peer);
    Some(Step::Answer(about.token, Ok(result)))
}

/// The pages that an error wants visited, as the params of questions.
fn pages(error: &ErrorObject) -> Option<Vec<Json>> {
    if error.code.as_i64() != Some(errors::URL_ELICITATION_REQUIRED) {
        return None;
    }
    let pages: Vec<Json> = error.data.as_ref()?.read_member("elicitations")?;
    let by_url = |page| with_members(page, &[("mode", Some(Json::of("url")))]);
    Some(pages.iter().map(by_url).collect())
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
    cx.enter(needs.hop);
    let undeclared = pages(&error).and_then(|pages| {
        let refusals = pages
            .iter()
            .map(|page| allowed(caller, methods::ELICITATION_CREATE, page));
        refusals.filter_map(Result::err).next()
    });
    let rule = TABLES.rule(needs.hop, needs.rule);
    let told = match undeclared {
        Some(refusal) => {
            if let Some(rule) = rule {
                cx.under(rule).replace("/message", error.message);
                if let Some(data) = error.data {
                    cx.under(rule).replace("/data", data);
                }
                cx.under(rule).replace("/code", error.code);
            }
            refusal
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

/// Calls the handlers as if for the first time, after the retry of the client, unless it declined.
fn anew(about: &About, params: &JsonObject, world: &World<'_>) -> Step {
    let responses = params.get("inputResponses");
    let responses: Map<JsonObject> = responses.and_then(|it| it.read().ok()).unwrap_or_default();
    let accepts = |response: &JsonObject| {
        response
            .get("action")
            .is_some_and(|action| action.text() == "\"accept\"")
    };
    if responses.is_empty()
        || !responses
            .into_iter()
            .all(|(_, response)| accepts(&response))
    {
        let error = errors::invalid_params("the call needs what its client would not do").error;
        return Step::Answer(about.token, Err(error));
    }
    let plain = with_members(
        &about.params,
        &[("inputResponses", None), ("requestState", None)],
    );
    match world
        .translator
        .params_told(Way::In, about.method, &plain, about.peer)
    {
        Ok((params, _)) => Step::Call {
            token: about.token,
            method: about.method,
            params,
        },
        Err(stopped) => {
            let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
            Step::Answer(about.token, Err(error))
        }
    }
}
