//! The server, of this project: `ours PORT sessions|stateless`.

use mcp_revisions::http;
use mcp_revisions::service::Router;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [port, mode] = peers_http::arguments()?;
    let options = match mode.as_str() {
        "sessions" => http::Options::default(),
        _ => http::Options::default().without_sessions(),
    };
    let router = Router::new().tool(
        "add",
        "Adds two numbers.",
        |Add { a, b }| async move { a + b },
    );
    let listener = http::bind(("127.0.0.1", port.parse()?)).await?;
    let service = router.build("example", "1.0.0")?.into_http_service(options);
    http::serve(listener, service).await;
    Ok(())
}
