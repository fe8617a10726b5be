//! What tools and prompts ask back, and the state that goes with it.

use serde_json::{Value, json};

/// A question to the person at the client, for one value.
pub(super) fn elicit(message: &str, name: &str, kind: &str) -> Value {
    let schema =
        json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]});
    form(message, schema)
}

/// A question to the person at the client.
pub(super) fn form(message: &str, schema: Value) -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

/// A question to the model of the client.
pub(super) fn sample(text: &str, most: u32) -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": text}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}})
}

/// The roots of the client.
pub(super) fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// The result that asks.
pub(super) fn ask(questions: &[(&str, Value)], state: Option<&str>) -> Value {
    let mut requests = json!({});
    for (name, question) in questions {
        requests[*name] = question.clone();
    }
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}
