//! Questions that end their call, which starts over once they are answered: nothing is kept for it meanwhile.
//!
//! Answers of earlier rounds travel with the client, as the state of the request. They are the client's own words either
//! way, so that nobody need vouch for them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_wire::{Json, Map};

/// What a client was asked and has answered so far, by question.
#[derive(Debug, Default)]
pub(super) struct Answers {
    known: Map<Json>,
    asked: AtomicUsize,
}

/// A question that has no answer yet, and the answers to those before it: an error that a handler hands on with `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unanswered {
    key: String,
    method: &'static str,
    params: Option<Json>,
    known: Map<Json>,
}

impl Answers {
    /// The answers in the params of a request; none if they have none.
    pub(super) fn of(params: &Json) -> Self {
        let mut known = Map::new();
        let text = params.text();
        if text.contains("\"inputResponses\"") || text.contains("\"requestState\"") {
            let params: Map<Json> = params.read().unwrap_or_default();
            let state = params.get("requestState").and_then(|state| state.as_str());
            let earlier = state.and_then(|state| Json::from_text(&state).ok());
            // A state that is not one of these is whoever's else it may be.
            for answers in [earlier.as_ref(), params.get("inputResponses")] {
                let answers: Option<Map<Json>> = answers.and_then(|answers| answers.read().ok());
                for (key, answer) in &answers.unwrap_or_default() {
                    known.insert(key, answer.clone());
                }
            }
        }
        Self {
            known,
            asked: AtomicUsize::new(0),
        }
    }

    /// The same answers, of which none was asked for yet.
    pub(super) fn again(&self) -> Self {
        Self {
            known: self.known.clone(),
            asked: AtomicUsize::new(0),
        }
    }

    /// The answer to the next question.
    pub(super) fn next(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> Result<Json, Box<Unanswered>> {
        let place = self.asked.fetch_add(1, Ordering::Relaxed);
        // A handler that asks something else this time is not answered by what was said to the other question.
        let mut what = DefaultHasher::new();
        (method, params.as_ref().map(Json::text)).hash(&mut what);
        let key = format!("{place}-{:016x}", what.finish());
        match self.known.get(&key) {
            Some(answer) => Ok(answer.clone()),
            None => Err(Box::new(Unanswered {
                key,
                method,
                params,
                known: self.known.clone(),
            })),
        }
    }
}

impl Unanswered {
    /// The result that asks.
    pub(super) fn into_result(self) -> Json {
        let mut question = Map::new();
        question.insert("method", Json::of(self.method));
        if let Some(params) = self.params {
            question.insert("params", params);
        }
        let questions = Map::from_iter([(self.key, Json::of(&question))]);
        let mut result = Map::new();
        result.insert("resultType", Json::of("input_required"));
        result.insert("inputRequests", Json::of(&questions));
        result.insert("requestState", Json::of(Json::of(&self.known).text()));
        Json::of(&result)
    }
}
