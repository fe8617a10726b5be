//! The handlers over stdio: `cargo run -p mcp-revisions --example stdio_server [-- --only REVISION,...]`.

mod arguments;
mod handlers;

use mcp_revisions::{RevisionSet, stdio};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (only, _) = arguments::arguments()?;
    let server = handlers::server()?.serving(only.unwrap_or_else(RevisionSet::all));
    stdio::serve(server, handlers::handle).await?;
    Ok(())
}
