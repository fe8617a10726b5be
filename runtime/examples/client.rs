//! The tools of any server: `cargo run -p mcp-revisions --example client -- SERVER [ARGUMENT...]`.
use mcp_revisions::newest::{self as mcp, CallServer};
use mcp_revisions::service::Client;
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = std::env::args().skip(1);
    let server = command.next().ok_or("name the server to start")?;
    let me = mcp::Implementation::new("lister", "1.0.0");
    let client = Client::new(&me).command(server, command)?;
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    client.close().await;
    Ok(())
}
