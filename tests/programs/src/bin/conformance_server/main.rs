//! The server that the official conformance suite wants to see: functions registered once, for clients of every revision.
//!
//! `cargo run -p mcp-test-programs --bin conformance_server -- 3000`; port 0 takes any that is free. The address is the
//! first line on standard output. `cargo xtask conformance` runs the suite against it.

mod conformance;

use std::error::Error;

use mcp_revisions::http::{self, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).unwrap_or_default();
    let listener = http::bind(("127.0.0.1", port.parse().unwrap_or(0))).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let running = conformance::server()?;
    http::serve(listener, running.into_http_service(Options::default())).await;
    Ok(())
}
