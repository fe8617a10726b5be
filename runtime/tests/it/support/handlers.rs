//! One set of handlers, written once against revision 2025-11-25 and served to every other: tools with text, an image,
//! structured output and an error; a resource; a prompt; completion.

use mcp_revisions::mcp_wire::{Decode, Encode, Error, ErrorObject, Json, JsonObject, from_str};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, ProfileError, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::{Lifecycle, Revision, core::v2025_11_25 as mcp, sansio::errors};
use serde_json::json;

/// The server of these handlers, for every revision.
pub(crate) fn server() -> Result<Server, ProfileError> {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1.0.0"))
        .with_title("Every revision");
    let capabilities =
        json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}});
    let profile = Profile::new(&info, &Json::from(capabilities))
        .with_instructions("Add numbers, or count with me.");
    Server::new(Revision::V2025_11_25, profile)
}

/// Answers a call.
pub(crate) async fn handle(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    match call.method {
        "tools/list" => written::<mcp::ListToolsResult>(TOOLS),
        "tools/call" => tool(read(&call)?, &call, &peer)
            .await
            .map(|result| Json::of(&result)),
        "resources/list" => written::<mcp::ListResourcesResult>(RESOURCES),
        "resources/templates/list" => {
            Ok(Json::of(&mcp::ListResourceTemplatesResult::new(Vec::new())))
        }
        "resources/read" => resource(&read(&call)?),
        "prompts/list" => written::<mcp::ListPromptsResult>(PROMPTS),
        "prompts/get" => prompt(&read(&call)?),
        "completion/complete" => complete(&read(&call)?),
        // Such as tasks, which are not offered.
        other => Err(errors::method_not_found(other, Lifecycle::Handshake).error),
    }
}

async fn tool(
    params: mcp::CallToolRequestParams,
    call: &IncomingRequest,
    peer: &Peer,
) -> Result<mcp::CallToolResult, ErrorObject> {
    let arguments = params.arguments.unwrap_or_default();
    let number = |name: &str| {
        arguments
            .get(name)
            .and_then(|value| Some(value.as_number()?.as_f64()))
    };
    let says = |text: &str| mcp::CallToolResult::new(vec![mcp::TextContent::new(text).into()]);
    match params.name.as_str() {
        "add" => match (number("a"), number("b")) {
            (Some(a), Some(b)) => Ok(says(&(a + b).to_string())),
            _ => Err(errors::invalid_params("add takes two numbers, `a` and `b`").error),
        },
        "pixel" => Ok(mcp::CallToolResult::new(vec![
            mcp::ImageContent::new(PIXEL, mcp_revisions::args::MimeType("image/png")).into(),
        ])),
        "weather" => {
            let weather = r#"{"degrees":21.5,"sky":"clear"}"#;
            Ok(says(weather)
                .with_structured_content(from_str::<JsonObject>(weather).map_err(invalid)?))
        }
        // The tool failed, not the request: the model shall read why.
        "fail" => Ok(says("there is no such city").with_is_error(true)),
        "count" => {
            let to = number("to").unwrap_or(3.0);
            for step in 1..=(to.clamp(0.0, 100.0) as u32) {
                if let Some(token) = &call.progress_token {
                    let token = token.parse::<serde_json::Value>().unwrap_or_default();
                    let progress = json!({"progressToken": token, "progress": step, "total": to});
                    let _ = peer
                        .notify("notifications/progress", Some(&Json::from(progress)))
                        .await;
                }
                let log = json!({"level": "info", "logger": "count", "data": format!("counted to {step}")});
                let _ = peer
                    .notify("notifications/message", Some(&Json::from(log)))
                    .await;
            }
            Ok(says("done"))
        }
        other => Err(errors::invalid_params(&format!("there is no tool `{other}`")).error),
    }
}

fn resource(params: &mcp::ReadResourceRequestParams) -> Result<Json, ErrorObject> {
    if params.uri != "example://greeting" {
        let why = format!("there is no resource {}", params.uri);
        return Err(ErrorObject::new(errors::RESOURCE_NOT_FOUND, why));
    }
    let contents = mcp::TextResourceContents::new(
        mcp_revisions::args::Uri(params.uri.clone()),
        "Hello from every revision.",
    );
    Ok(Json::of(&mcp::ReadResourceResult::new(vec![
        contents.with_mime_type("text/plain").into(),
    ])))
}

fn prompt(params: &mcp::GetPromptRequestParams) -> Result<Json, ErrorObject> {
    if params.name != "greet" {
        return Err(errors::invalid_params(&format!("there is no prompt `{}`", params.name)).error);
    }
    let name = params
        .arguments
        .as_ref()
        .and_then(|arguments| arguments.get("name"));
    let text = format!(
        "Greet {} in one sentence.",
        name.map_or("the world", String::as_str)
    );
    let message = mcp::PromptMessage::new(mcp::Role::User, mcp::TextContent::new(text));
    Ok(Json::of(&mcp::GetPromptResult::new(vec![message])))
}

fn complete(params: &mcp::CompleteRequestParams) -> Result<Json, ErrorObject> {
    let names = ["Ada", "Alan", "Grace"]
        .into_iter()
        .filter(|name| name.starts_with(&params.argument.value));
    let completion = mcp::CompleteResultCompletion::new(names.map(str::to_owned).collect());
    Ok(Json::of(&mcp::CompleteResult::new(completion)))
}

/// The params of a call as their type.
fn read<T: Decode>(call: &IncomingRequest) -> Result<T, ErrorObject> {
    call.read().map_err(invalid)
}

/// A result that was written as JSON, once it proves to be one.
fn written<T: Decode + Encode>(text: &str) -> Result<Json, ErrorObject> {
    let result: T = from_str(text).map_err(|error| errors::internal(&error.to_string()).error)?;
    Ok(Json::of(&result))
}

fn invalid(error: Error) -> ErrorObject {
    errors::invalid_params(&error.to_string()).error
}

const TOOLS: &str = r#"{"tools":[
    {"name":"add","title":"Add","description":"Adds two numbers.","annotations":{"readOnlyHint":true},
     "inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}},
    {"name":"pixel","description":"An image of one pixel.","inputSchema":{"type":"object"}},
    {"name":"weather","description":"The weather, as structured output.","inputSchema":{"type":"object"},
     "outputSchema":{"type":"object","properties":{"degrees":{"type":"number"},"sky":{"type":"string"}},"required":["degrees","sky"]}},
    {"name":"fail","description":"Fails, and says so in its result.","inputSchema":{"type":"object"}},
    {"name":"count","description":"Counts, and tells how far it is.",
     "inputSchema":{"type":"object","properties":{"to":{"type":"integer"}}}}
]}"#;

const RESOURCES: &str = r#"{"resources":[
    {"uri":"example://greeting","name":"greeting","title":"A greeting","mimeType":"text/plain"}
]}"#;

const PROMPTS: &str = r#"{"prompts":[
    {"name":"greet","description":"Greets somebody.","arguments":[{"name":"name","required":false}]}
]}"#;

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
