//! Schemas that no one should write: each is refused with its place and with what to do, or makes a crate.
//!
//! Nothing panics, overflows the stack, or takes longer than its size explains.

use crate::says;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mcp_codegen::generate::{Alone, Crate, alone};
use mcp_revisions_schema::{Decision, Error, Spec};
use serde_json::{Map, Value, json};

mod keywords;
mod names;
mod size;
mod texts;

use crate::refusal::helpful;
use crate::specs::{files, released};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A spec without rules.
fn spec() -> Spec {
    let schema = json!({"$schema": DIALECT, "$defs": {"A": {"type": "object"}}});
    let files = files(&[
        ("revisions.toml", &released(&["one"])),
        ("one/schema.json", &schema.to_string()),
    ]);
    Spec::from_files(files).unwrap()
}

fn from_text(text: &str) -> Result<Crate, Error> {
    let wire = crate::workspace::repository().join("runtime/wire");
    let one = Alone {
        text,
        file: "draft.json",
        package: "mcp-hostile",
        wire: &wire.display().to_string(),
        sha256: "0",
    };
    alone(&spec(), &one)
}

fn schema(definitions: &Value) -> String {
    json!({"$schema": DIALECT, "$defs": definitions}).to_string()
}

fn generated(definitions: &Value) -> Result<Crate, Error> {
    from_text(&schema(definitions))
}

/// The refusal of these definitions, where no safe answer may be taken.
#[track_caller]
fn refused(definitions: &Value) -> String {
    match generated(definitions) {
        Ok(one) if one.decisions.is_empty() => panic!("it made a crate of {definitions}"),
        Ok(one) => strictly(&one),
        Err(error) => helpful(&error),
    }
}

/// What is said of a crate that stands on decisions, where no safe answer may be taken.
#[track_caller]
fn strictly(one: &Crate) -> String {
    let refused = one.decisions.iter().cloned().map(Decision::refused);
    helpful(&Error::of(refused.collect()).unwrap())
}

/// The refusal names the place, and says this.
#[track_caller]
fn refused_at(definitions: &Value, pointer: &str, says: &str) {
    let said = refused(definitions);
    let place = format!("draft.json#{pointer}: ");
    assert!(said.contains(&place), "{said}\ndoes not name {place}");
    assert!(said.contains(says), "{said}\ndoes not say: {says}");
}

/// Runs what must not take long; a hang fails instead of standing still.
fn within<T: Send + 'static>(seconds: u64, job: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || drop(sender.send(job())));
    match receiver.recv_timeout(Duration::from_secs(seconds)) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("still at it after {seconds} s"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().unwrap_err())
        }
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn object(members: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn string() -> Value {
    json!({"type": "string"})
}

#[test]
fn what_is_no_schema_at_all() {
    for (text, says) in [
        ("", "draft.json:1:1: not JSON: the file is empty"),
        (" \n\t ", "draft.json:1:1: not JSON: the file is empty"),
        ("schema", "draft.json:1:1: not JSON"),
        ("{\"$schema\":", "draft.json:1:11: not JSON"),
        ("{} {}", "draft.json:1:4: not JSON"),
        (
            "{\"a\":1,\n\"a\":2}",
            "draft.json:2:3: not JSON: member `a` is given twice",
        ),
        ("{\"\\ud800\":1}", "not JSON"),
        (
            "[]",
            "draft.json#: expected a JSON Schema: an object at the top",
        ),
        (
            "null",
            "draft.json#: expected a JSON Schema: an object at the top",
        ),
        (
            "{}",
            "draft.json#: expected definitions under `$defs` or `definitions`, found none",
        ),
        (
            "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$defs\":{}}",
            "found none",
        ),
        ("{\"$defs\":{\"A\":{}}}", "draft.json#/$schema: expected"),
        (
            "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"definitions\":{\"A\":{}}}",
            "draft.json#/$schema: expected",
        ),
    ] {
        let said = helpful(&from_text(text).expect_err(text));
        assert!(said.contains(says), "{text}: {said}\ndoes not say: {says}");
    }
}

#[test]
fn ten_thousand_levels_of_nesting() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{\"items\":", "}")] {
        let text = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        let said = helpful(&from_text(&text).expect_err(open));
        says(&said, "expected at most 127 levels of nesting, found more");
    }
    // As deep as the parser goes, and as a schema can be.
    let nest = |levels: usize| {
        (0..levels).fold(
            string(),
            |inner, _| json!({"type": "array", "items": inner}),
        )
    };
    generated(&json!({"A": nest(16)})).unwrap();
    for levels in [17, 60, 100] {
        let said = refused(&json!({"A": nest(levels)}));
        says(&said, "at most 16 lists, maps and `null`s around one value");
    }
    let members =
        |levels: usize| (0..levels).fold(string(), |inner, _| object(&[("x", inner)], &[]));
    generated(&json!({"A": members(50)})).unwrap();
}

#[test]
fn all_of_that_never_ends() {
    // Joined, `x` is both, whose `x` is both, ...
    let endless = json!({
        "A": object(&[("x", reference("A"))], &[]),
        "B": object(&[("x", reference("B")), ("y", string())], &[]),
        "C": {"allOf": [reference("A"), reference("B")]},
    });
    let said = within(20, move || refused(&endless));
    says(&said, "a `$ref` or `allOf` that ends");
}

#[test]
fn requests_without_a_method_a_result_or_an_area() {
    let message = |method: Value| object(&[("method", method)], &["method"]);
    let asks = |request: Value| {
        json!({
            "ClientRequest": {"anyOf": [reference("AskRequest")]},
            "AskRequest": request,
            "AskResult": {"type": "object"},
        })
    };
    let named = |method: &str| message(json!({"const": method, "type": "string"}));
    generated(&asks(named("ask/now"))).unwrap();
    let at = "/$defs/AskRequest";
    for request in [object(&[("x", string())], &[]), message(string())] {
        let says = "a message whose `method` is one constant";
        refused_at(&asks(request), at, says);
    }
    for request in [
        object(&[], &[]),
        string(),
        json!({"enum": ["ask"]}),
        json!(true),
    ] {
        let says = "messages: objects whose `method` is one constant";
        refused_at(&asks(request), "/$defs/ClientRequest", says);
    }
    for method in [
        "",
        "/",
        "Ask/now",
        "ask-me/now",
        "../now",
        "lib/now",
        "mod/now",
        "wire/now",
        "methods/now",
        "main",
        "type/now",
        "½/now",
        "ask\n/now",
        "C:\\now",
    ] {
        refused_at(&asks(named(method)), at, "the first segment of the method");
        let stub = "add to spec/methods.toml:\n    [areas]\n";
        refused_at(&asks(named(method)), at, stub);
    }
    let mut unanswered = asks(named("ask/now"));
    unanswered.as_object_mut().unwrap().remove("AskResult");
    refused_at(
        &unanswered,
        at,
        "nothing says what answers `ask/now`\n  help: to settle it, add to spec/methods.toml:\n    [[result]]\n    method = \"ask/now\"\n",
    );
    let mut twice = asks(named("ask/now"));
    twice["ClientRequest"]["anyOf"] = json!([reference("AskRequest"), reference("TellRequest")]);
    twice["TellRequest"] = named("ask/now");
    twice["TellResult"] = json!({"type": "object"});
    refused_at(
        &twice,
        "/$defs/TellRequest",
        "found `ask/now` for `AskRequest` and `TellRequest`",
    );
}

#[test]
fn packages_and_files_that_would_break_what_names_them() {
    let text = schema(&json!({"A": string()}));
    let with = |package: &str, file: &str| {
        let one = Alone {
            text: &text,
            file,
            package,
            wire: "../wire",
            sha256: "0",
        };
        alone(&spec(), &one)
    };
    for package in ["", "1st", "a b", "a\"b", "a\nb", "größe", "../a"] {
        let said = helpful(&with(package, "draft.json").expect_err(package));
        says(&said, "is not a valid package name");
    }
    let one = with("mcp-draft", "a\nuse evil;\r.json").unwrap();
    for (path, text) in &one.files {
        assert!(
            !text.lines().any(|line| line.starts_with("use evil")),
            "{path}"
        );
    }
}
