//! What a conversation must have come to: the revision, and four things that a client asks for.

use std::fmt;

use serde_json::{Value, json};

use super::peers::{InteropPeer, InteropRole, PeerTasks};
use super::run::Steps;

/// What a cell of the matrix says.
pub(super) enum Cell {
    /// Every step came to what it must.
    Passed,
    /// The peer does not speak that revision in that mode.
    NotSpoken,
    /// A step did not.
    Failed(String, String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::NotSpoken => f.write_str("-"),
            Self::Failed(step, _) => write!(f, "**{step}**"),
        }
    }
}

/// Judges the steps of a conversation.
pub(super) fn cell(steps: &Steps, peer: &InteropPeer, revision: &str) -> Cell {
    for (step, expected) in expected(peer, revision) {
        let failed = |why: String| Cell::Failed(step.to_owned(), why);
        let Some(told) = steps.iter().find(|told| told["step"] == step) else {
            return failed("did not happen".to_owned());
        };
        if let Some(error) = told.get("error") {
            return failed(error.as_str().unwrap_or_default().to_owned());
        }
        let found = match peer.role {
            InteropRole::Client => told["value"].clone(),
            InteropRole::Server => essence(step, &told["value"]),
        };
        if found != expected {
            return failed(format!("expected {expected}, found {found}"));
        }
    }
    Cell::Passed
}

/// Each step, and what it must have come to.
fn expected(peer: &InteropPeer, revision: &str) -> Vec<(&'static str, Value)> {
    let role = peer.role;
    // Structured output came with 2025-06-18: the example servers leave it out before, by the rules of the conversion.
    // rmcp sends it in every revision; in an older one it is a member like any unknown one, which is not taken for the
    // newer one of that name.
    let structured = !["2024-11-05", "2025-03-26"].contains(&revision);
    let weather = if structured { json!(21.5) } else { Value::Null };
    let mut steps = vec![
        ("connect", json!(revision)),
        ("resources/read", json!("Hello from every revision.")),
        ("prompts/get", json!("Greet Ada in one sentence.")),
    ];
    steps.extend(match role {
        InteropRole::Client => vec![
            (
                "tools/list",
                json!(["add", "count", "fail", "pixel", "weather"]),
            ),
            (
                "tools/call",
                json!({"add": "3", "pixel": "image/png", "weather": weather, "fail": true}),
            ),
        ],
        InteropRole::Server => vec![
            ("tools/list", json!(["add", "fail", "pixel", "weather"])),
            ("add", json!("3")),
            ("pixel", json!("image/png")),
            ("weather", weather),
            ("fail", json!(true)),
        ],
    });
    // A server that has tasks makes one of `add`.
    if role == InteropRole::Client && matches!(peer.tasks, PeerTasks::Of(one) if one == revision) {
        steps.push(("task", json!(["taskCreated", "done"])));
    }
    steps
}

/// Returns the parts of a result that are compared, as the example client prints it.
fn essence(step: &str, result: &Value) -> Value {
    match step {
        "tools/list" => {
            let tools = result["tools"].as_array().into_iter().flatten();
            let mut names: Vec<Value> = tools.map(|tool| tool["name"].clone()).collect();
            names.sort_by_key(|name| name.as_str().map(str::to_owned));
            names.into()
        }
        "add" => result["content"][0]["text"].clone(),
        "pixel" => result["content"][0]["mimeType"].clone(),
        "weather" => result["structuredContent"]["degrees"].clone(),
        "fail" => result["isError"].clone(),
        "resources/read" => result["contents"][0]["text"].clone(),
        "prompts/get" => result["messages"][0]["content"]["text"].clone(),
        _ => result.clone(),
    }
}
