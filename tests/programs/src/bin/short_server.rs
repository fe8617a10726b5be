//! A server of every revision, as short as it can be: one of the programs that `tests/peers/programs` compares.
use mcp_revisions::Router;
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
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let add = |Add { a, b }| async move { a + b };
    let sky = || async { "clear" };
    let fail = || async { Err::<String, _>("there is no such city") };
    let greet = |Greet { name }| async move { format!("Greet {name}.") };
    let names = |_typed: String| async { vec!["Ada", "Alan"] };
    let router = Router::new()
        .tool("add", "Adds two numbers.", add)
        .tool("sky", "How the sky is.", sky)
        .tool("fail", "Fails, and says so.", fail)
        .resource("example://hello", "hello", || async { "Hello." })
        .prompt("greet", "Greets somebody.", greet)
        .completion("greet", "name", names);
    Ok(router.build("example", "1.0.0")?.stdio().await?)
}
