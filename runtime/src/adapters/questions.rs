//! What a server may ask a client: the questions of an `input_required` result, read, written, and checked.

use mcp_wire::{ErrorObject, Json, JsonObject, Map};

use super::declares;
use crate::errors;
use crate::server::Client;

/// The methods that may be answered with `input_required`.
pub(crate) const ASK_BACK: [&str; 3] = ["prompts/get", "resources/read", "tools/call"];

/// A question, with its params in the revision of whoever wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) name: String,
    pub(super) method: &'static str,
    pub(super) params: Json,
}

/// What `input_required` says: the questions, and the state to hand back.
pub(super) fn read(result: &Json) -> Result<(Vec<Question>, Option<Json>), ErrorObject> {
    let wrong = |why: &str| errors::internal(&format!("the server asks for input: {why}")).error;
    let object = JsonObject::try_from(result.clone()).map_err(|_| wrong("no object"))?;
    let state = object.get("requestState").filter(|state| !state.is_null());
    let requests: Map<JsonObject> = match object.get("inputRequests").filter(|it| !it.is_null()) {
        Some(requests) => (requests.read()).map_err(|error| wrong(&error.to_string()))?,
        None => Map::new(),
    };
    let questions = requests.into_iter().map(|(name, request)| {
        let method = request
            .get("method")
            .and_then(|it| it.read::<String>().ok());
        let method = method
            .as_deref()
            .and_then(known)
            .ok_or_else(|| wrong("of no known method"))?;
        let params = request
            .get("params")
            .unwrap_or_else(crate::protocol::translate::no_params);
        Ok(Question {
            name,
            method,
            params,
        })
    });
    Ok((questions.collect::<Result<_, _>>()?, state))
}

/// The result that asks the peer these, and wants the state back.
pub(super) fn write(questions: &[Question], state: &str) -> Json {
    let mut requests: Map<Json> = Map::new();
    for Question {
        name,
        method,
        params,
    } in questions
    {
        let mut request: Map<Json> = Map::new();
        request.insert("method", Json::of(*method));
        request.insert("params", params.clone());
        requests.insert(name.as_str(), Json::of(&request));
    }
    let mut result: Map<Json> = Map::new();
    result.insert("resultType", Json::of("input_required"));
    result.insert("inputRequests", Json::of(&requests));
    result.insert("requestState", Json::of(state));
    Json::of(&result)
}

/// The method of a question.
pub(super) fn known(method: &str) -> Option<&'static str> {
    CAPABILITIES
        .iter()
        .find(|(known, _)| *known == method)
        .map(|(known, _)| *known)
}

/// The client capability that each question needs.
const CAPABILITIES: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("roots/list", "roots"),
    ("sampling/createMessage", "sampling"),
];

/// The client capability that a request of the server needs.
pub(crate) fn capability_of(method: &str) -> Option<&'static str> {
    CAPABILITIES
        .iter()
        .find(|(known, _)| *known == method)
        .map(|(_, capability)| *capability)
}

/// Refuses a question that the client did not say it can be asked.
pub(crate) fn allowed(client: &Client, method: &str, params: &Json) -> Result<(), ErrorObject> {
    let Some(capability) = capability_of(method) else {
        return Ok(());
    };
    let required = match method {
        "elicitation/create" if says(params, "mode", "\"url\"") => {
            format!("{{\"{capability}\":{{\"url\":{{}}}}}}")
        }
        "sampling/createMessage" if declares(params, &["tools"]) => {
            format!("{{\"{capability}\":{{\"tools\":{{}}}}}}")
        }
        _ => format!("{{\"{capability}\":{{}}}}"),
    };
    let path: &[&str] = match method {
        "elicitation/create" if required.contains("url") => &["elicitation", "url"],
        "sampling/createMessage" if required.contains("tools") => &["sampling", "tools"],
        _ => &[capability],
    };
    match client
        .capabilities
        .as_ref()
        .is_some_and(|it| declares(it, path))
    {
        true => Ok(()),
        false => {
            let required = Json::from_text(&required).unwrap_or_default();
            Err(errors::missing_capability(&required).error)
        }
    }
}

fn says(params: &Json, name: &str, text: &str) -> bool {
    let object = JsonObject::try_from(params.clone()).ok();
    object
        .and_then(|object| object.get(name))
        .is_some_and(|value| value.text() == text)
}

/// The object with these members set; `None` takes a member out.
pub(super) fn with_members(object: &Json, members: &[(&str, Option<Json>)]) -> Json {
    let mut map: Map<Json> = object.read().unwrap_or_default();
    for (name, value) in members {
        match value {
            Some(value) => {
                map.insert(*name, value.clone());
            }
            None => {
                map.remove(name);
            }
        }
    }
    Json::of(&map)
}
