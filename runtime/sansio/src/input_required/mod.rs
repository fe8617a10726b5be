//! Questions of a server in a result, `input_required`: read, written, checked, signed, and answered.
//!
//! At a server [`server`] has the adapters; at a client [`client`] asks the application.

#[cfg(feature = "client")]
pub(super) mod client;
#[cfg(feature = "server")]
pub(crate) mod server;

use mcp_wire::{ErrorObject, Json, JsonObject, Map};

use crate::errors;
use crate::json::with_members;
use crate::translate::no_params;

/// A question, with its params in the revision of its writer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EmbeddedQuestion<Method = &'static str> {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) params: Json,
}

/// Reads what `input_required` says: the questions, `most` of them, and the state to hand back. Fails for a result that is
/// malformed, or has too many questions; why, for people.
pub(super) fn read(
    result: &Json,
    most: usize,
) -> Result<(Vec<EmbeddedQuestion<String>>, Option<Json>), String> {
    let object = JsonObject::try_from(result.clone()).map_err(|error| error.to_string())?;
    let state = object.get("requestState").filter(|state| !state.is_null());
    let requests: Map<JsonObject> = match object.get("inputRequests").filter(|it| !it.is_null()) {
        Some(requests) => (requests.read()).map_err(|error| format!("inputRequests: {error}"))?,
        None => Map::new(),
    };
    if requests.len() > most {
        return Err(too_many_questions(requests.len(), most));
    }
    let question = |(name, request): (String, JsonObject)| {
        let method = request
            .as_json()
            .read_member::<String>("method")
            .ok_or_else(|| format!("inputRequests: `{name}` names no method"))?;
        let params = request.get("params").unwrap_or_else(no_params);
        Ok(EmbeddedQuestion {
            name,
            method,
            params,
        })
    };
    let questions = requests.into_iter().map(question);
    Ok((questions.collect::<Result<_, String>>()?, state))
}

/// Returns the pages that an error of an older server wants visited, as the params of questions; `None` if it is another error.
pub(super) fn pages(error: &ErrorObject) -> Option<Vec<Json>> {
    if error.code.as_i64() != Some(errors::URL_ELICITATION_REQUIRED) {
        return None;
    }
    let pages: Vec<Json> = error.data.as_ref()?.read_member("elicitations")?;
    let by_url = |page| with_members(page, &[("mode", Some(Json::of("url")))]);
    Some(pages.iter().map(by_url).collect())
}

/// Returns whether the user does what a question asks for.
pub(super) fn accepts(answer: &Json) -> bool {
    (answer.get("action")).is_some_and(|action| action.text() == "\"accept\"")
}

/// Returns the refusal of a result that has more than [`Limits::max_input_requests`](crate::Limits::max_input_requests).
pub fn too_many_questions(questions: usize, limit: usize) -> String {
    format!(
        "{questions} inputs are asked for at once, at most {limit} are taken: ask for the rest in the next round"
    )
}
