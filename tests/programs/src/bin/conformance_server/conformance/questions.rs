//! Tools that ask the client as it is asked in its revision, and wait for the answer.

use mcp_revisions::Latest;
use mcp_revisions::latest::{self as mcp, CallClient};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::service::{Error, RequestContext, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WHAT;

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    prompt: String,
}

/// A form.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "it is shown")]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// A form with a default for each member.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Defaults {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

pub(super) fn register(router: Router) -> Router {
    router
        .tool("test_elicitation", WHAT, elicits)
        .tool("test_streaming_elicitation", WHAT, |cx| async {
            let message = "Who are you?".to_owned();
            elicits(Message { message }, cx).await
        })
        .tool("test_elicitation_sep1034_defaults", WHAT, proposes)
        .tool("test_elicitation_sep1330_enums", WHAT, offers)
        .tool("test_sampling", WHAT, |Prompt { prompt }, cx| async move {
            sampled(&prompt, &cx).await
        })
        .tool("test_missing_capability", WHAT, |cx| async move {
            sampled("Say something", &cx).await
        })
}

async fn elicits(
    Message { message }: Message,
    cx: RequestContext<Latest>,
) -> Result<String, Error> {
    let user: User = cx.elicit(&message).await?;
    Ok(format!("User response: {user:?}"))
}

async fn proposes(cx: RequestContext<Latest>) -> Result<String, Error> {
    let said: Defaults = cx.elicit("Please fill in").await?;
    let content = serde_json::to_string(&said).map_err(Error::internal)?;
    Ok(format!(
        "Elicitation completed: action=accept, content={content}"
    ))
}

/// A choice of every form: more than a Rust type says.
async fn offers(cx: RequestContext<Latest>) -> Result<String, Error> {
    let params: mcp::ElicitRequestFormParams = Json::from_text(CHOICES)?.read()?;
    let said = CallClient::elicit(&cx, params.into()).await?;
    Ok(format!(
        "Elicitation completed: action={}, content={}",
        said.action.as_str(),
        Json::of(&said.content)
    ))
}

const CHOICES: &str = r#"{
    "message": "Please choose",
    "requestedSchema": {"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"}]},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [
            {"const": "value1", "title": "First Choice"},
            {"const": "value2", "title": "Second Choice"},
            {"const": "value3", "title": "Third Choice"}]}}
    }}
}"#;

/// A question to the model of the client.
pub(super) fn sampling(text: &str, most: i64) -> mcp::CreateMessageRequestParams {
    let message = mcp::SamplingMessage::new(mcp::Role::User, mcp::TextContent::new(text));
    mcp::CreateMessageRequestParams::new(vec![message], most)
}

#[expect(
    deprecated,
    reason = "clients sample as long as there is a revision that has it"
)]
async fn sampled(text: &str, cx: &RequestContext<Latest>) -> Result<String, Error> {
    let said = cx.create_message(sampling(text, 100)).await?;
    let text = match said.content {
        mcp::SamplingContent::Text(text) => text.text,
        other => Json::of(&other).into_text(),
    };
    Ok(format!("LLM response: {text}"))
}
