//! A server of functions, for clients of every revision: tools with text, an image, structured output and an error; a
//! resource; a prompt; completion; progress and logs.

use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::ServeError;
use mcp_revisions::{Json, McpServer, RequestContext, RevisionSet, Router, Server, latest as mcp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    degrees: f64,
    sky: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Name of the person to greet; the world by default.
    name: Option<String>,
}

/// The server, for these revisions.
pub(crate) fn server(only: RevisionSet) -> Result<McpServer, ServeError> {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1.0.0"))
        .with_title("Every revision");
    let hello = mcp::Resource::new(mcp_revisions::args::Uri("example://greeting"), "greeting")
        .with_mime_type("text/plain");
    let router = Router::new()
        .tool("add", "Adds two numbers.", add)
        .tool("pixel", "An image of one pixel.", pixel)
        .tool("weather", "The weather, as structured output.", weather)
        .tool("fail", "Fails, and says so in its result.", fail)
        .tool("count", "Counts, and tells how far it is.", count)
        .as_task()
        .resource_of(hello, || async { "Hello from every revision." })
        .prompt("greet", "Greets somebody.", greet)
        .completion("greet", "name", names);
    let server = Server::new(&info).with_instructions("Add numbers, or count with me.");
    router.build_with(server.with_revisions(only))
}

async fn add(Add { a, b }: Add) -> f64 {
    a + b
}

async fn pixel() -> mcp::ContentBlock {
    mcp::ImageContent::new(PIXEL, mcp_revisions::args::MimeType("image/png")).into()
}

async fn weather() -> Json<Weather> {
    Json(Weather {
        degrees: 21.5,
        sky: "clear",
    })
}

/// The tool failed, not the request: the model shall read why.
async fn fail() -> Result<String, &'static str> {
    Err("there is no such city")
}

async fn count(Count { to }: Count, cx: RequestContext) -> &'static str {
    let to = to.unwrap_or(3).min(100);
    for step in 1..=to {
        cx.progress(i64::from(step), i64::from(to)).await;
        cx.log(LogLevel::Info, format!("counted to {step}")).await;
    }
    "done"
}

async fn greet(Greet { name }: Greet) -> String {
    let name = name.as_deref().unwrap_or("the world");
    format!("Greet {name} in one sentence.")
}

async fn names(typed: String) -> Vec<&'static str> {
    let names = ["Ada", "Alan", "Grace"].into_iter();
    names.filter(|name| name.starts_with(&typed)).collect()
}

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
