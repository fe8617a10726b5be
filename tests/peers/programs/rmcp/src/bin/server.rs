use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use rmcp::{prompt, prompt_handler, prompt_router, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

struct Example;

#[tool_router]
impl Example {
    #[tool(description = "Adds two numbers.")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "How the sky is.")]
    async fn sky(&self) -> String {
        "clear".to_owned()
    }

    #[tool(description = "Fails, and says so.")]
    async fn fail(&self) -> Result<String, String> {
        Err("there is no such city".to_owned())
    }
}

#[prompt_router]
impl Example {
    #[prompt(description = "Greets somebody.")]
    async fn greet(&self, Parameters(greet): Parameters<Greet>) -> Vec<PromptMessage> {
        let text = format!("Greet {}.", greet.name);
        vec![PromptMessage::new_text(Role::User, text)]
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Example {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("example", "1.0.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let hello = Resource::new("example://hello", "hello");
        Ok(ListResourcesResult::with_all_items(vec![hello]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "example://hello" {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let contents = ResourceContents::text("Hello.", request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let names = vec!["Ada".to_owned(), "Alan".to_owned()];
        let completion = CompletionInfo::with_all_values(names);
        Ok(CompleteResult::new(completion.unwrap_or_default()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Example.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
