//! The handlers over stdio: `cargo run -p mcp-revisions --example stdio_server [-- --only REVISION,...]`.

mod arguments;
mod handlers;

use mcp_revisions::RevisionSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (only, _) = arguments::arguments()?;
    let running = handlers::server(only.unwrap_or_else(RevisionSet::all))?;
    Ok(running.stdio().await?)
}
