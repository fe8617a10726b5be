//! Messages written from parts that are texts already: the only place that writes JSON-RPC.
//!
//! Params and results are copied as they are; the caller makes sure that they are JSON.

use super::ErrorObject;
use crate::id::RequestId;
use crate::write_to;

/// What every message begins with.
const OPEN: &str = "{\"jsonrpc\":\"2.0\"";

/// Returns a request.
#[must_use]
pub fn request(id: &RequestId, method: &str, params: Option<&str>) -> String {
    let mut text = opened(method.len() + params.map_or(0, str::len));
    push_id(&mut text, id);
    push_method(&mut text, method, params);
    text
}

/// Returns a notification.
#[must_use]
pub fn notification(method: &str, params: Option<&str>) -> String {
    let mut text = opened(method.len() + params.map_or(0, str::len));
    push_method(&mut text, method, params);
    text
}

/// Returns the response to a request that succeeded.
#[must_use]
pub fn response(id: &RequestId, result: &str) -> String {
    let mut text = opened(result.len());
    push_id(&mut text, id);
    text.push_str(",\"result\":");
    text.push_str(result);
    text.push('}');
    text
}

/// Returns the response to a request that failed.
///
/// In the place of an id that could not be read is `null`, as JSON-RPC has it.
#[must_use]
pub fn error(id: Option<&RequestId>, error: &ErrorObject) -> String {
    failure(id, &crate::to_string(error))
}

/// Returns the response to a request that failed, with the text of its error.
///
/// In the place of an id that could not be read is `null`, as JSON-RPC has it.
#[must_use]
pub fn failure(id: Option<&RequestId>, error: &str) -> String {
    let mut text = opened(error.len());
    match id {
        Some(id) => push_id(&mut text, id),
        None => text.push_str(",\"id\":null"),
    }
    text.push_str(",\"error\":");
    text.push_str(error);
    text.push('}');
    text
}

/// Returns a batch of messages.
#[must_use]
pub fn batch(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}

fn opened(rest: usize) -> String {
    let mut text = String::with_capacity(rest + 80);
    text.push_str(OPEN);
    text
}

fn push_id(text: &mut String, id: &RequestId) {
    text.push_str(",\"id\":");
    write_to(id, text);
}

fn push_method(text: &mut String, method: &str, params: Option<&str>) {
    text.push_str(",\"method\":");
    write_to(method, text);
    if let Some(params) = params {
        text.push_str(",\"params\":");
        text.push_str(params);
    }
    text.push('}');
}
