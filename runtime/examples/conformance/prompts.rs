//! Prompts: plain, with arguments, with a resource, with an image, and one that asks back.

use mcp_revisions::mcp_wire::ErrorObject;
use serde_json::{Value, json};

use super::questions::{ask, elicit};
use super::{PIXEL, cached, invalid};

pub(super) fn list() -> Value {
    let argument =
        |name: &str| json!({"name": name, "description": "An argument.", "required": true});
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<Value> = arguments.iter().map(|name| argument(name)).collect();
        json!({"name": name, "description": "A prompt for testing.", "arguments": arguments})
    };
    let prompts = [
        prompt("test_input_required_result_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_simple_prompt", &[]),
    ];
    cached("prompts", json!(prompts))
}

pub(super) fn get(params: &Value) -> Result<Value, ErrorObject> {
    let argument = |name: &str| {
        params["arguments"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let user = |content: Value| json!({"role": "user", "content": content});
    let says = |text: &str| user(json!({"type": "text", "text": text}));
    let messages = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => vec![says("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![says(&format!(
                "Prompt with arguments: arg1='{one}', arg2='{two}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."});
            let block = user(json!({"type": "resource", "resource": resource}));
            vec![block, says("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = user(json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}));
            vec![image, says("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => match params["inputResponses"].get("user_context") {
            Some(answer) => vec![says(&format!(
                "In this context: {}",
                answer["content"]["context"]
            ))],
            None => {
                let question = elicit("What context should the prompt use?", "context", "string");
                return Ok(ask(&[("user_context", question)], None));
            }
        },
        other => return Err(invalid(&format!("there is no prompt `{other}`"))),
    };
    Ok(json!({"description": "A prompt for testing.", "messages": messages}))
}
