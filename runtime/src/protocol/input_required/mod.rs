//! Questions of a server in a result, `input_required`: read, written, checked, signed, and answered.
//!
//! At a server [`server`] has the adapters; at a client [`client`] asks the application.

#[cfg(feature = "sansio-client")]
pub(super) mod client;
#[cfg(feature = "sansio-server")]
pub(crate) mod server;

use mcp_wire::{Json, JsonObject, Map};

use crate::protocol::translate::no_params;

/// A question, with its params in the revision of its writer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question<Method = &'static str> {
    pub(super) name: String,
    pub(super) method: Method,
    pub(super) params: Json,
}

/// Reads what `input_required` says: the questions, `most` of them, and the state to hand back.
///
/// # Errors
/// A result that is malformed, or has too many questions; why, for people.
pub(super) fn read(
    result: &Json,
    most: usize,
) -> Result<(Vec<Question<String>>, Option<Json>), String> {
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
        let method = request.as_json().read_member::<String>("method");
        let method = method.ok_or_else(|| format!("inputRequests: `{name}` names no method"))?;
        let params = request.get("params").unwrap_or_else(no_params);
        Ok(Question {
            name,
            method,
            params,
        })
    };
    let questions = requests.into_iter().map(question);
    Ok((questions.collect::<Result<_, String>>()?, state))
}

/// Why a result is refused that asks for more than [`Limits::max_input_requests`](crate::Limits::max_input_requests).
pub(crate) fn too_many_questions(questions: usize, limit: usize) -> String {
    format!(
        "{questions} inputs are asked for at once, at most {limit} are taken: ask for the rest in the next round"
    )
}
