//! A server over stdio that ends at Ctrl-C, after what runs is answered: `cargo run -p mcp-revisions --example stop`.

use mcp_revisions::service::Router;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Router::new()
        .tool("now", "Tells the time.", || async { "noon" })
        .build("clock", "0.1.0")?;
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    server.stdio_until(stop).await?;
    eprintln!("stopped");
    Ok(())
}
