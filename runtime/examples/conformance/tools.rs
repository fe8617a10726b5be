//! Tools: content of every kind, progress and logs, and those that ask back.

use std::time::Duration;

use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::serve::Peer;
use mcp_revisions::server::Call;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::questions::{ask, elicit, form, roots, sample};
use super::{Change, PIXEL, cached, invalid};

/// The tools without arguments, in the order of the list.
const PLAIN: [&str; 26] = [
    "test_audio_content",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_logging_tool",
    "test_missing_capability",
    "test_multiple_content_types",
    "test_reconnection",
    "test_simple_text",
    "test_streaming_elicitation",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_trigger_prompt_change",
    "test_trigger_resource_change",
    "test_trigger_tool_change",
    "test_watched",
];

pub(super) fn list() -> Value {
    let tool = |name: &str, schema: Value| json!({"name": name, "description": "A tool for testing.", "inputSchema": schema});
    let one = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let mut tools: Vec<Value> = (PLAIN.iter())
        .map(|name| tool(name, json!({"type": "object", "properties": {}})))
        .collect();
    tools.push(tool("test_elicitation", one("message")));
    tools.push(tool("test_sampling", one("prompt")));
    tools.push(tool(
        "json_schema_2020_12_tool",
        SCHEMA.parse().unwrap_or_default(),
    ));
    let header = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    tools.push(tool("test_headers", header));
    cached("tools", json!(tools))
}

/// A schema with the words of JSON Schema 2020-12.
const SCHEMA: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;

pub(super) async fn call(
    params: &Value,
    call: &Call,
    peer: &Peer,
    changes: &broadcast::Sender<Change>,
) -> Result<Value, ErrorObject> {
    let name = params["name"].as_str().unwrap_or_default();
    if let Some(result) = asks_back(name, params, call) {
        return result;
    }
    let blocks = match name {
        "test_simple_text"
        | "test_headers"
        | "json_schema_2020_12_tool"
        | "test_reconnection"
        | "test_watched" => {
            json!([text("This is a simple text response for testing.")])
        }
        "test_image_content" => json!([image()]),
        "test_audio_content" => {
            json!([{"type": "audio", "data": "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=", "mimeType": "audio/wav"}])
        }
        "test_embedded_resource" => {
            json!([resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )])
        }
        "test_multiple_content_types" => {
            let data = json!({"test": "data", "value": 123}).to_string();
            json!([
                text("Multiple content types test:"),
                image(),
                resource("test://mixed-content-resource", "application/json", &data)
            ])
        }
        "test_error_handling" => {
            let text = text("This tool intentionally returns an error for testing");
            return Ok(json!({"content": [text], "isError": true}));
        }
        "test_tool_with_logging" | "test_logging_tool" => {
            for text in [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ] {
                let log = json!({"level": "info", "logger": "conformance", "data": text});
                let _ = peer
                    .notify("notifications/message", Some(&Json::from(log)))
                    .await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            json!([text("logged")])
        }
        "test_tool_with_progress" => {
            for progress in [0, 50, 100] {
                if let Some(token) = &call.progress_token {
                    let token: Value = token.parse().unwrap_or_default();
                    let progress =
                        json!({"progressToken": token, "progress": progress, "total": 100});
                    let _ =
                        (peer.notify("notifications/progress", Some(&Json::from(progress)))).await;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            json!([text("progressed")])
        }
        "test_trigger_tool_change" => changed(changes, "notifications/tools/list_changed"),
        "test_trigger_prompt_change" => changed(changes, "notifications/prompts/list_changed"),
        "test_trigger_resource_change" => changed(changes, "notifications/resources/updated"),
        other => return Err(invalid(&format!("there is no tool `{other}`"))),
    };
    Ok(json!({"content": blocks}))
}

fn changed(changes: &broadcast::Sender<Change>, method: &'static str) -> Value {
    // Nobody may be listening.
    let _ = changes.send((
        method,
        match method {
            "notifications/resources/updated" => json!({"uri": "test://watched-resource"}),
            _ => json!({}),
        },
    ));
    json!([text("changed")])
}

/// The state that a round hands on, so that what comes back can be told from what somebody made up.
///
/// Nothing depends on it here but the answer; where something does, seal it.
const STATES: [&str; 2] = ["round-1", "round-2"];

/// The tools that ask back; none if it is no such tool.
fn asks_back(name: &str, params: &Value, call: &Call) -> Option<Result<Value, ErrorObject>> {
    let answers = &params["inputResponses"];
    let state = params["requestState"].as_str();
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    let done = |said: String| Some(Ok(json!({"content": [text(&said)]})));
    let wants = |questions: &[(&str, Value)], state| Some(Ok(ask(questions, state)));
    match (name, state) {
        ("test_input_required_result_elicitation", _) => {
            match answers["user_name"]["content"]["name"].as_str() {
                Some(said) => done(format!("Hello, {said}!")),
                None => wants(
                    &[("user_name", elicit("What is your name?", "name", "string"))],
                    None,
                ),
            }
        }
        ("test_input_required_result_sampling", _) => match answers.get("capital_question") {
            Some(said) => done(
                said["content"]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            ),
            None => wants(
                &[(
                    "capital_question",
                    sample("What is the capital of France?", 100),
                )],
                None,
            ),
        },
        ("test_input_required_result_list_roots", _) => match answers.get("client_roots") {
            Some(said) => done(said["roots"].to_string()),
            None => wants(&[("client_roots", roots())], None),
        },
        (
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state",
            None,
        ) => wants(
            &[("confirm", elicit("Please confirm", "ok", "boolean"))],
            Some(STATES[0]),
        ),
        (
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state",
            Some(said),
        ) => match said == STATES[0] {
            true => done("state-ok".to_owned()),
            false => Some(Err(invalid("requestState is none that was given out"))),
        },
        ("test_input_required_result_multiple_inputs", _) => {
            let questions = [
                ("user_name", elicit("What is your name?", "name", "string")),
                ("greeting", sample("Generate a greeting", 50)),
                ("client_roots", roots()),
            ];
            match questions
                .iter()
                .all(|(name, _)| answers.get(name).is_some())
            {
                true => done("thank you".to_owned()),
                false => wants(&questions, Some(STATES[0])),
            }
        }
        ("test_input_required_result_multi_round", None) => wants(
            &[(
                "step1",
                elicit("Step 1: What is your name?", "name", "string"),
            )],
            Some(STATES[0]),
        ),
        ("test_input_required_result_multi_round", Some(said)) if said == STATES[0] => wants(
            &[(
                "step2",
                elicit("Step 2: What is your favorite color?", "color", "string"),
            )],
            Some(STATES[1]),
        ),
        ("test_input_required_result_multi_round", Some(_)) => done("two steps".to_owned()),
        ("test_input_required_result_capabilities", _) => {
            let all = [
                ("sampling", "greeting", sample("Generate a greeting", 50)),
                (
                    "elicitation",
                    "user_name",
                    elicit("What is your name?", "name", "string"),
                ),
                ("roots", "client_roots", roots()),
            ];
            let can = all
                .into_iter()
                .filter(|(capability, _, _)| call.caller.can(capability));
            let questions: Vec<(&str, Value)> =
                can.map(|(_, name, question)| (name, question)).collect();
            match answers.is_object() || questions.is_empty() {
                true => done("asked for what can be asked".to_owned()),
                false => wants(&questions, None),
            }
        }
        ("test_sampling", _) => match answers.get("answer") {
            Some(said) => done(format!(
                "LLM response: {}",
                said["content"]["text"].as_str().unwrap_or_default()
            )),
            None => wants(&[("answer", sample(argument("prompt"), 100))], None),
        },
        ("test_missing_capability", _) => match answers.get("answer") {
            Some(_) => done("sampled".to_owned()),
            None => wants(&[("answer", sample("Say something", 10))], None),
        },
        ("test_elicitation" | "test_streaming_elicitation", _) => match answers.get("answer") {
            Some(said) => done(format!("User response: {said}")),
            None => {
                let word = |what: &str| json!({"type": "string", "description": what});
                let properties = json!({"username": word("User's response"), "email": word("User's email address")});
                let schema = json!({"type": "object", "properties": properties, "required": ["username", "email"]});
                wants(&[("answer", form(argument("message"), schema))], None)
            }
        },
        ("test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums", _) => {
            match answers.get("answer") {
                Some(said) => done(format!(
                    "Elicitation completed: action={}, content={}",
                    said["action"].as_str().unwrap_or_default(),
                    said["content"]
                )),
                None => {
                    let properties = match name {
                        "test_elicitation_sep1034_defaults" => defaults(),
                        _ => choices(),
                    };
                    wants(
                        &[(
                            "answer",
                            form(
                                "Please fill in",
                                json!({"type": "object", "properties": properties}),
                            ),
                        )],
                        None,
                    )
                }
            }
        }
        _ => None,
    }
}

/// A default for every primitive type.
fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

/// A choice of every form.
fn choices() -> Value {
    let titled = |titles: [&str; 3]| -> Vec<Value> {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        values
            .map(|(value, title)| json!({"const": value, "title": title}))
            .collect()
    };
    json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}},
    })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}
