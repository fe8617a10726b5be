//! Questions that end their call, which starts over once they are answered: nothing is kept for it meanwhile.
//!
//! Answers of earlier rounds travel with the client, as the state of the request, which the endpoint signs for this
//! request and this principal.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hmac_sha256::Hash;
use mcp_wire::{Json, Map};

use mcp_revisions_sansio::driver::server::canonical;

/// The questions that a client was asked, and its answers so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The answers that came with the request.
    responses: Map<Json>,
    /// The state of the request, as its client has it.
    state: Option<String>,
    /// The answers of earlier rounds in that state.
    earlier: Map<Json>,
    /// Number of questions that the handler has sent.
    sent: AtomicUsize,
    /// The first question without an answer: it ends the call, in the place of what the handler returns.
    pending: OnceLock<Unanswered>,
}

/// A question that has no answer yet, and the answers to those before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unanswered {
    key: String,
    method: &'static str,
    params: Option<Json>,
    known: Map<Json>,
}

impl Answers {
    /// Returns the answers in the params of a request; `None` if they have none.
    pub(super) fn of(params: &Json) -> Self {
        let members: Map<Json> = params.read().unwrap_or_default();
        let responses = members.get("inputResponses").map(Json::read);
        let state = members.get("requestState").and_then(|state| state.as_str());
        // A handler may return `input_required` itself, with a state that has another form.
        let earlier = state.as_deref().map(mcp_wire::from_str);
        Self {
            responses: responses.and_then(Result::ok).unwrap_or_default(),
            earlier: earlier.and_then(Result::ok).unwrap_or_default(),
            state: state.map(std::borrow::Cow::into_owned),
            sent: AtomicUsize::new(0),
            pending: OnceLock::new(),
        }
    }

    /// Returns the client's response to a question of this name, as it came with the request.
    pub(super) fn named(&self, name: &str) -> Option<&Json> {
        self.responses.get(name)
    }

    /// Returns the state of the request.
    pub(super) fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the answer to the next question; `None` if there is none, so that the question is pending.
    pub(super) fn next(&self, method: &'static str, params: Option<Json>) -> Option<Json> {
        let place = self.sent.fetch_add(1, Ordering::Relaxed);
        let key = key(place, method, params.as_ref());
        let known = self.responses.get(&key).or_else(|| self.earlier.get(&key));
        if let Some(answer) = known {
            return Some(answer.clone());
        }
        let mut known = self.earlier.clone();
        for (key, answer) in &self.responses {
            known.insert(key, answer.clone());
        }
        self.pending.get_or_init(|| Unanswered {
            key,
            method,
            params,
            known,
        });
        None
    }

    /// Returns the result that asks the pending question, if there is one.
    pub(super) fn question(&self) -> Option<Json> {
        self.pending.get().cloned().map(Unanswered::into_result)
    }
}

/// Returns the name of a question. A handler that asks something else this time is not answered by what was said to the other
/// question; and every build of a replica gives the same names.
fn key(place: usize, method: &str, params: Option<&Json>) -> String {
    let mut what = format!("{method} ");
    if let Some(params) = params {
        canonical(params, &mut what);
    }
    let mut key = format!("{place}-");
    for byte in Hash::hash(what.as_bytes()).iter().take(8) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

impl Unanswered {
    /// Returns the result that asks.
    fn into_result(self) -> Json {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_the_same_name_whoever_built_the_replica() {
        let form = |text: &str| Json::from_text(text).ok();
        let one = form(r#"{"message": "Who?", "requestedSchema": {"type": "object"}}"#);
        let name = key(0, "elicitation/create", one.as_ref());
        assert_eq!(name, "0-e2b9d39d5f20efa9");
        let other_order = form(r#"{"requestedSchema":{"type":"object"},"message":"Who?"}"#);
        assert_eq!(name, key(0, "elicitation/create", other_order.as_ref()));
        for other in [
            key(1, "elicitation/create", one.as_ref()),
            key(0, "sampling/createMessage", one.as_ref()),
            key(0, "elicitation/create", None),
        ] {
            assert_ne!(name, other);
        }
    }
}
