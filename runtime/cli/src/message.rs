//! A JSON-RPC message, typed by its method.

use mcp_revisions_core::Diagnostic;
use mcp_revisions_core::Revision;
use mcp_revisions_core::program::{check_sent, read_messages};
use mcp_wire::{Error, Extra, MessageKind, MethodInfo, MethodKind, Peeked, Raw, TypeInfo};
use serde_json::{Value, json};

use crate::compare::lost;
use crate::report::{CheckResult, CheckVerdict};
use crate::revisions::{known_methods, known_type, protocol_with, result_type};

/// Reads a text as one type and writes it back.
pub(crate) fn as_type(ty: &TypeInfo, text: &str) -> CheckResult {
    finding(ty.name.to_owned(), "", text, |text| ty.round_trip(text))
}

/// Reads a text as a message, or a batch of them; `method` is the one that it belongs to.
pub(crate) fn as_message(revision: Revision, method: Option<&str>, text: &str) -> Vec<CheckResult> {
    let messages = match read_messages(text) {
        Ok(messages) => messages,
        Err(diagnostic) => return vec![refused("JSON-RPC message", diagnostic)],
    };
    if messages.is_batch && revision.type_named("JSONRPCBatchRequest").is_none() {
        let expected = format!("one message, since revision {revision} has no batches");
        let diagnostic = Diagnostic::new("", expected, "an array".to_owned());
        return vec![refused("JSON-RPC message", diagnostic)];
    }
    let read_one = |(index, one): (usize, &Result<Peeked<'_>, Diagnostic>)| match one {
        Ok(one) if messages.is_batch => read(revision, method, &format!("/{index}"), one),
        Ok(one) => read(revision, method, "", one),
        Err(diagnostic) => refused("JSON-RPC message", diagnostic.clone()),
    };
    messages.all.iter().enumerate().map(read_one).collect()
}

fn read(
    revision: Revision,
    method: Option<&str>,
    pointer: &str,
    message: &Peeked<'_>,
) -> CheckResult {
    let name = message.method.as_deref().unwrap_or_default();
    let call = |kind| check_call(revision, method, pointer, name, kind, message.text);
    match message.kind {
        MessageKind::Request => call(MethodKind::Request),
        MessageKind::Notification => call(MethodKind::Notification),
        MessageKind::Response => check_response(revision, method, pointer, message),
        MessageKind::Error | MessageKind::Batch => check_error(revision, pointer, message.text),
    }
}

/// Checks a request or a notification by its method.
fn check_call(
    revision: Revision,
    wanted: Option<&str>,
    pointer: &str,
    name: &str,
    kind: MethodKind,
    text: &str,
) -> CheckResult {
    if let Some(wanted) = wanted
        && wanted != name
    {
        let diagnostic = Diagnostic::new(
            &format!("{pointer}/method"),
            format!("`{wanted}`"),
            format!("`{name}`"),
        );
        return refused(&format!("{wanted} {kind}"), diagnostic);
    }
    let rows: Vec<&MethodInfo> = known_methods(revision, name).collect();
    let Some(row) = rows.first() else {
        let read_as = format!("unknown method {name}");
        return finding(read_as, pointer, text, round_trip_raw);
    };
    let read_as = format!("{name} {}", row.kind);
    let protocol = protocol_with(revision, name);
    if let Err(diagnostic) = check_sent(protocol, name, kind, None) {
        return refused(&read_as, diagnostic.within(pointer));
    }
    match known_type(revision, row.message) {
        Some(ty) => finding(read_as, pointer, text, |text| ty.round_trip(text)),
        None => finding(read_as, pointer, text, round_trip_raw),
    }
}

/// Checks a response by the method of its request.
fn check_response(
    revision: Revision,
    method: Option<&str>,
    pointer: &str,
    message: &Peeked<'_>,
) -> CheckResult {
    let Some(method) = method else {
        // Without a method, any result is valid.
        let ty = ["JSONRPCResultResponse", "JSONRPCResponse"]
            .iter()
            .find_map(|name| revision.type_named(name));
        let read_as = "response; give --method to check its result".to_owned();
        return match ty {
            Some(ty) => finding(read_as, pointer, message.text, |text| ty.round_trip(text)),
            None => finding(read_as, pointer, message.text, round_trip_raw),
        };
    };
    let read_as = format!("{method} response");
    let result = message.result.map_or("null", Raw::text);
    let Some(ty) = result_type(revision, method, result) else {
        let diagnostic = Diagnostic::new(
            pointer,
            "no response".to_owned(),
            format!("one to `{method}`, which is not answered"),
        );
        return refused(&read_as, diagnostic);
    };
    let place = format!("{pointer}/result");
    let finding = finding(read_as, &place, result, |text| ty.round_trip(text));
    let members = mcp_wire::from_str::<Extra>(message.text).unwrap_or_default();
    match members.get("error") {
        Some(error) if finding.is_ok() => {
            let place = format!("{pointer}/error");
            let expected = "no `error` beside a `result`".to_owned();
            let found = error.text().to_owned();
            refused(&finding.read_as, Diagnostic::new(&place, expected, found))
        }
        _ => finding,
    }
}

fn check_error(revision: Revision, pointer: &str, text: &str) -> CheckResult {
    let ty = ["JSONRPCErrorResponse", "JSONRPCError"]
        .iter()
        .find_map(|name| revision.type_named(name));
    match ty {
        Some(ty) => finding("error response".to_owned(), pointer, text, |text| {
            ty.round_trip(text)
        }),
        None => finding("error response".to_owned(), pointer, text, round_trip_raw),
    }
}

fn round_trip_raw(text: &str) -> Result<String, Error> {
    mcp_wire::from_str::<Extra>(text).map(|members| mcp_wire::to_string(&members))
}

/// Reads a text, writes it again, and compares the two texts.
fn finding(
    read_as: String,
    pointer: &str,
    text: &str,
    round_trip: impl Fn(&str) -> Result<String, Error>,
) -> CheckResult {
    let written = match round_trip(text) {
        Ok(written) => written,
        Err(error) => return refused(&read_as, Diagnostic::of_error(pointer, &error)),
    };
    let mut pointers = lost(text, &written);
    let mut nulls = pointers
        .iter()
        .filter_map(|lost| null(text, lost, &round_trip));
    if let Some((lost, expected)) = nulls.next() {
        let place = format!("{pointer}{lost}");
        return refused(
            &read_as,
            Diagnostic::new(&place, expected, "null".to_owned()),
        );
    }
    for lost in &mut pointers {
        lost.insert_str(0, pointer);
    }
    let verdict = if pointers.is_empty() {
        CheckVerdict::Same
    } else {
        CheckVerdict::Lost(pointers)
    };
    CheckResult { read_as, verdict }
}

/// Returns the pointer of a `null` that was read as an absent member, and what the schema has there.
fn null(
    text: &str,
    pointer: &str,
    round_trip: &impl Fn(&str) -> Result<String, Error>,
) -> Option<(String, String)> {
    let whole: Value = serde_json::from_str(text).ok()?;
    if !whole.pointer(pointer)?.is_null() {
        return None;
    }
    // The schema takes at most one of these kinds there.
    let others = [json!(false), json!([]), json!(0)].into_iter();
    let mut expected = others.filter_map(|other| {
        let mut changed = whole.clone();
        *changed.pointer_mut(pointer)? = other;
        let error = round_trip(&changed.to_string()).err()?;
        (error.pointer() == pointer).then(|| error.expected().to_owned())
    });
    Some((pointer.to_owned(), expected.next()?))
}

fn refused(read_as: &str, diagnostic: Diagnostic) -> CheckResult {
    CheckResult {
        read_as: read_as.to_owned(),
        verdict: CheckVerdict::Refused(diagnostic),
    }
}
