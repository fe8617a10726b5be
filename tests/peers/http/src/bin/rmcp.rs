//! The server, of rmcp: `rmcp PORT sessions|stateless`.

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

struct Example;

#[tool_router]
impl Example {
    #[tool(description = "Adds two numbers.")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler]
impl ServerHandler for Example {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [port, mode] = peers_http::arguments()?;
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = mode == "sessions";
    config.json_response = mode != "sessions";
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Example), sessions, config);
    let service = TowerToHyperService::new(service);
    let listener = TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(served);
    }
}
