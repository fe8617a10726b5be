//! A server over stdio that ends at Ctrl-C: what runs has 5 seconds to finish, and a second Ctrl-C ends it at once.
//! `cargo run -p mcp-revisions --example stop`.

use std::time::Duration;

use mcp_revisions::Router;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wait = || tokio::time::sleep(Duration::from_secs(60 * 60));
    let server = Router::new()
        .tool("now", "Tells the time.", || async { "noon" })
        .tool("wait", "Waits an hour.", wait)
        .build("clock", "0.1.0")?;
    let stop = mcp_revisions::stop_signal()?;
    server.stdio_until(stop, Duration::from_secs(5)).await?;
    eprintln!("stopped");
    Ok(())
}
