//! A server written with rmcp, which serves every revision: the bridge stands in front of its service, in the same
//! process. `cargo run` serves it at `http://127.0.0.1:8000/mcp`.

use std::sync::Arc;
use std::time::Instant;

use adder::Adder;
use mcp_bridge::{Bridge, ClientSettings, ToolRules, Upstream};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

mod adder;

/// The routes of the process: the bridge, to the service of rmcp.
fn app() -> axum::Router {
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let rmcp = StreamableHttpService::new(|| Ok(Adder), sessions, config);
    let clients = ClientSettings::new().on_loss(|report| {
        for loss in report.losses {
            eprintln!("{}: {} is lost", report.method, loss.pointer());
        }
    });
    let bridge = Bridge::new(Upstream::service(rmcp))
        .with_clients(clients)
        // The clients of the gateway are not to reset the server.
        .with_tool_rules(ToolRules::new().deny("reset"))
        .with_layer(|message| async move {
            let (method, began) = (message.method().to_owned(), Instant::now());
            let result = message.forward().await;
            eprintln!("{method} took {:?}", began.elapsed());
            result
        });
    axum::Router::new().route_service("/mcp", bridge.into_service())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 8000)).await?;
    axum::serve(listener, app()).await
}

#[cfg(test)]
mod tests {
    use mcp_revisions::mcp_wire::Json;
    use mcp_revisions::mcp_wire::service::Caller as _;
    use mcp_revisions::service::Client;
    use mcp_revisions::service::client::Http;
    use mcp_revisions::{Revision, RevisionSet};
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn clients_of_every_revision_call_a_server_of_rmcp() {
        let app = app();
        for revision in Revision::NEGOTIATED {
            let only = RevisionSet::none().with(*revision);
            let client = Client::builder(&mcp_revisions::program!()).with_revisions(only);
            let client = client.http(Http::in_process(app.clone()));
            let listed = client.request("tools/list", None).await.unwrap();
            assert!(listed.text().contains("\"add\""), "{revision}: {}", listed.text());
            assert!(!listed.text().contains("\"reset\""), "{revision}: {}", listed.text());
            let reset = Json::from(json!({ "name": "reset", "arguments": {} }));
            let refused = client.request("tools/call", Some(reset)).await.unwrap_err();
            assert!(refused.to_string().contains("no tool `reset`"), "{refused}");
            let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2.5 } });
            let answer = client.request("tools/call", Some(Json::from(call))).await;
            let answer: Value = answer.unwrap().parse().unwrap();
            assert_eq!(answer["content"][0]["text"], "3.5", "{revision}");
            client.close().await.unwrap();
        }
    }
}
