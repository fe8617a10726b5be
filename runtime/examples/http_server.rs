//! The handlers over HTTP, and at `/sse` over HTTP+SSE: `cargo run -p mcp-revisions --example http_server [-- PORT] [--only REVISION,...]`.

mod arguments;
mod handlers;

use std::time::Duration;

use mcp_revisions::{RevisionSet, http};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (only, rest) = arguments::arguments()?;
    let port = match rest.first() {
        Some(port) => port.parse()?,
        None => 8080,
    };
    let listener = http::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    // Clients of the oldest transport find it there.
    let options = http::Options::new().with_http_sse("/sse");
    let running = handlers::server(only.unwrap_or_else(RevisionSet::all))?;
    let (service, grace) = (running.into_http_service(options), Duration::from_secs(10));
    http::serve_until(listener, service, mcp_revisions::stop_signal()?, grace).await;
    Ok(())
}
