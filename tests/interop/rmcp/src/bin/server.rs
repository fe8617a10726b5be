//! rmcp as a server over stdio, with the tools, the resource and the prompt of the project's examples.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams,
    GetTaskResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, Role,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

/// Its tool `add` is a task for clients that have tasks.
#[derive(Default)]
struct Example {
    tasks: TaskManager,
}

impl ServerHandler for Example {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ["add", "pixel", "weather", "fail"].map(|name| {
            let schema = json!({"type": "object"})
                .as_object()
                .cloned()
                .unwrap_or_default();
            Tool::new(name, "", schema)
        });
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let number = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_f64)
                .unwrap_or_default()
        };
        let result = match request.name.as_ref() {
            "add" => CallToolResult::success(vec![ContentBlock::text(
                (number("a") + number("b")).to_string(),
            )]),
            "pixel" => CallToolResult::success(vec![ContentBlock::image("AAAA", "image/png")]),
            "weather" => CallToolResult::structured(json!({"degrees": 21.5, "sky": "clear"})),
            "fail" => CallToolResult::error(vec![ContentBlock::text("there is no such city")]),
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        let takes_tasks = (context.client_capabilities()).is_some_and(|it| it.supports_tasks());
        if request.name == "add" && takes_tasks {
            let options = TaskOptions::new().with_poll_interval_ms(20);
            let later = std::time::Duration::from_millis(50);
            let task = self.tasks.spawn(options, move |_| {
                Box::pin(async move {
                    tokio::time::sleep(later).await;
                    Ok(result)
                })
            });
            return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
        }
        Ok(result.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = ResourceContents::text("Hello from every revision.", request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request
            .arguments
            .and_then(|arguments| Some(arguments.get("name")?.as_str()?.to_owned()));
        let text = format!("Greet {} in one sentence.", name.unwrap_or_default());
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Example::default().serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
