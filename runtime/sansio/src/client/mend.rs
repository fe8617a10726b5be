//! Messages with a mistake in what is around their params or result, as they were meant. Read after a text was refused.

use std::borrow::Cow;

use mcp_wire::{
    JsonArray, JsonObject, MAX_DEPTH, Members, MessageKind, Reader, RequestId, envelope::write,
    peek,
};

use crate::quote::quotable;

/// Maximum number of places of a text at which a message is looked for.
const PLACES: usize = 16;

/// The members of a message.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A message as it was meant.
pub(crate) struct MendedText {
    /// The message, without the mistake.
    pub(crate) text: String,
    /// The mistakes; empty if the message has none.
    pub(crate) why: String,
    /// Set if the message names the request that it answers, or is none that answers.
    pub(crate) names_request: bool,
    /// Set if the text has nothing but messages.
    pub(crate) is_clean: bool,
}

/// The request that a text answers, as far as its place says.
#[derive(Clone, Copy)]
pub(crate) struct ExpectedResponse {
    pub(crate) id: Option<i64>,
    /// Set if the text is the response to the POST of that request.
    pub(crate) is_posted: bool,
}

/// Returns the messages in a text that is not one message: one with a mistake in its envelope, in an array of one, beside
/// text that is not JSON, or behind another message.
pub(crate) fn messages(bytes: &[u8], expected: ExpectedResponse) -> Vec<MendedText> {
    let text = String::from_utf8_lossy(bytes);
    let mut mistakes = Vec::new();
    if let Cow::Owned(_) = text {
        mistakes.push("bytes that are not UTF-8, which are read as U+FFFD".to_owned());
    }
    if let Some((shallow, why)) = without_deep_entries(&text) {
        mistakes.extend(why);
        // Only a list of results does without an entry.
        let message = envelope(&shallow, expected, mistakes);
        let is_response = |mended: &MendedText| {
            peek(mended.text.as_bytes()).is_ok_and(|it| it.kind == MessageKind::Response)
        };
        return message.into_iter().filter(is_response).collect();
    }
    if let Ok(array) = JsonArray::from_text(&text) {
        let mut elements = array.iter();
        let (first, second) = (elements.next(), elements.next());
        mistakes.push("expected a message, found an array (a batch) of one message".to_owned());
        let only = first.filter(|_| second.is_none());
        let message = only.and_then(|only| envelope(only, expected, mistakes));
        return message.into_iter().collect();
    }
    let (mut found, mut beside) = (Vec::new(), String::new());
    let mut at = 0;
    for _ in 0..PLACES {
        let rest = text.get(at..).unwrap_or_default();
        let Some(start) = rest.find('{') else { break };
        let behind = rest.get(start..).unwrap_or_default();
        let value = Reader::new(behind).text_of_value().ok();
        let message = value.and_then(|value| envelope(value, expected, mistakes.clone()));
        let skipped = match message {
            Some(_) => start,
            None => start + value.map_or(1, str::len),
        };
        beside.push_str(rest.get(..skipped).unwrap_or_default());
        at += start + value.map_or(1, str::len);
        found.extend(message);
    }
    beside.push_str(text.get(at..).unwrap_or_default());
    let trimmed = beside.trim();
    for message in &mut found {
        message.is_clean = trimmed.is_empty();
        if !trimmed.is_empty() {
            let why = "expected nothing but one message, found text beside it";
            add(
                &mut message.why,
                &format!("{why}: \"{}\"", quotable(trimmed)),
            );
        }
    }
    if let [_, _, ..] = found.as_slice() {
        for message in &mut found {
            add(
                &mut message.why,
                "expected one message, found several in one line",
            );
        }
    }
    found
}

/// Number of levels around an entry of a list of a result: the message, the result, the list.
const LIST_LEVEL: u32 = 3;

/// Returns a message without those entries of its lists that are nested too deep to be read, and what they are; `None` if it has
/// none.
fn without_deep_entries(text: &str) -> Option<(String, Vec<String>)> {
    let (mut kept, mut why) = (String::new(), Vec::new());
    let (mut depth, mut deepest) = (0_u32, 0_u32);
    let (mut is_list, mut is_string, mut is_escaped) = (false, false, false);
    // The start of the text that is not kept yet, and that of the entry.
    let (mut from, mut start, mut index) = (0, 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        if is_string {
            is_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        let ends_entry = is_list && depth == LIST_LEVEL && matches!(byte, b',' | b']');
        if ends_entry {
            if deepest > MAX_DEPTH {
                kept.push_str(text.get(from..start)?);
                from = if byte == b',' { at + 1 } else { at };
                if byte == b']' && kept.ends_with(',') {
                    kept.pop();
                }
                let name = name_of(text.get(start..at)?);
                why.push(format!(
                    "at entry {index} of a list of the result{name}: expected at most {MAX_DEPTH} levels of nesting; \
                     it is left out"
                ));
            }
            (start, index, deepest) = (at + 1, index + 1, 0);
        }
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => {
                depth = depth.checked_add(1)?;
                deepest = deepest.max(depth);
                if depth == LIST_LEVEL {
                    (is_list, start, index) = (byte == b'[', at + 1, 0);
                }
            }
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    kept.push_str(text.get(from..)?);
    (!why.is_empty()).then_some((kept, why))
}

/// Returns the name of an entry, for people, if it comes before what cannot be read.
fn name_of(entry: &str) -> String {
    static MEMBERS: Members = Members::ignoring("entry", &["name"]);
    let mut reader = Reader::new(entry);
    let named = reader.object(&MEMBERS).and_then(|mut object| {
        object.next(&mut reader)?;
        reader.text_of_value()
    });
    let name = named
        .ok()
        .and_then(|name| mcp_wire::from_str::<String>(name).ok());
    name.map_or(String::new(), |name| format!(" (`{}`)", quotable(&name)))
}

/// Returns the message that an object is meant to be; `None` if its parts contradict each other, or it is none.
fn envelope(
    value: &str,
    expected: ExpectedResponse,
    mut mistakes: Vec<String>,
) -> Option<MendedText> {
    let mended = |text: String, mistakes: Vec<String>, names_request| MendedText {
        text,
        why: mistakes.join("; "),
        names_request,
        is_clean: true,
    };
    if peek(value.as_bytes()).is_ok_and(|message| message.kind != MessageKind::Batch) {
        return Some(mended(value.to_owned(), mistakes, true));
    }
    let object = JsonObject::from_text(value).ok()?;
    let mut members: [Option<&str>; MEMBERS.len()] = Default::default();
    for (key, text) in object.iter() {
        let Some(index) = MEMBERS.iter().position(|name| *name == key) else {
            continue;
        };
        let member = members.get_mut(index)?;
        match member.replace(text) {
            None => {}
            Some(before) if before == text => {
                mistakes.push(format!(
                    "at /{key}: expected each member once, found a second one"
                ));
            }
            Some(_) => return None,
        }
    }
    let [version, id, method, params, result, error] = members;
    if version != Some("\"2.0\"") {
        let found = version.map_or_else(|| "nothing".to_owned(), quotable);
        mistakes.push(format!("at /jsonrpc: expected \"2.0\", found {found}"));
    }
    let name: Option<RequestId> = id.and_then(|id| mcp_wire::from_str(id).ok());
    if let Some(method) = method.filter(|method| *method != "null") {
        let method: String = mcp_wire::from_str(method).ok()?;
        if result.is_some() || error.is_some() || id.is_some() != name.is_some() {
            return None;
        }
        let text = match &name {
            Some(id) => write::request(id, &method, params),
            None => write::notification(&method, params),
        };
        return Some(mended(text, mistakes, true));
    }
    let error_text = error.filter(|error| *error != "null");
    let says_so = version.is_some() || id.is_some();
    let is_meant = match (result, error_text) {
        (Some(_), None) => says_so || expected.is_posted,
        (Some("null") | None, Some(error_text)) => says_so || is_error(error_text),
        _ => false,
    };
    if !is_meant {
        return None;
    }
    let names_request = name.is_some() || error_text.is_some();
    let is_unusable = name.is_none() && id.is_some_and(|id| id != "null");
    if is_unusable || !names_request {
        let found = id.map_or_else(|| "nothing".to_owned(), quotable);
        mistakes.push(format!(
            "at /id: expected the id of the request, found {found}"
        ));
    }
    let text = match (result, error_text) {
        (None, Some(error_text)) => write::failure(name.as_ref(), error_text),
        (Some(_), Some(error_text)) => {
            mistakes.push("at /result: expected no result beside an error, found null".to_owned());
            write::failure(name.as_ref(), error_text)
        }
        (result, None) => {
            let id = name.or_else(|| expected.id.map(RequestId::from));
            write::response(&id?, result?)
        }
    };
    Some(mended(text, mistakes, names_request))
}

/// Returns whether a text is an error object of JSON-RPC, and not the error of another protocol.
fn is_error(text: &str) -> bool {
    JsonObject::from_text(text)
        .is_ok_and(|it| it.get("code").is_some() || it.get("message").is_some())
}

fn add(mistakes: &mut String, mistake: &str) {
    if !mistakes.is_empty() {
        mistakes.push_str("; ");
    }
    mistakes.push_str(mistake);
}
