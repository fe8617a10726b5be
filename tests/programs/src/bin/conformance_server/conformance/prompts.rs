//! Prompts: plain, with arguments, with a resource, with an image, and one that asks back.

use mcp_revisions::service::{Error, RequestContext, Router};
use mcp_revisions::{Latest, latest as mcp};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{WHAT, embedded, image};

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first one.
    arg1: String,
    /// The second one.
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OfResource {
    /// The resource to embed.
    resource_uri: String,
}

#[derive(Deserialize, JsonSchema)]
struct Context {
    context: String,
}

pub(super) fn register(router: Router) -> Router {
    router
        .prompt("test_simple_prompt", WHAT, || async {
            "This is a simple prompt for testing."
        })
        .prompt(
            "test_prompt_with_arguments",
            WHAT,
            |Two { arg1, arg2 }| async move {
                format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
            },
        )
        .prompt(
            "test_prompt_with_embedded_resource",
            WHAT,
            |OfResource { resource_uri }| async move {
                let text = "Embedded resource content for testing.";
                let resource = embedded(resource_uri, "text/plain", text);
                let please = says("Please process the embedded resource above.");
                vec![user(resource), please]
            },
        )
        .prompt("test_prompt_with_image", WHAT, || async {
            vec![user(image()), says("Please analyze the image above.")]
        })
        .prompt("test_input_required_result_prompt", WHAT, asking)
        .completion(
            "test_prompt_with_arguments",
            "arg1",
            |typed: String| async move { vec![format!("{typed}1"), format!("{typed}2")] },
        )
}

async fn asking(cx: RequestContext<Latest>) -> Result<String, Error> {
    let Context { context } = cx.elicit("What context should the prompt use?").await?;
    Ok(format!("In this context: {context}"))
}

fn user(content: impl Into<mcp::ContentBlock>) -> mcp::PromptMessage {
    mcp::PromptMessage::new(mcp::Role::User, content)
}

fn says(text: &str) -> mcp::PromptMessage {
    user(mcp::TextContent::new(text))
}
