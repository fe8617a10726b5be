//! Calls a tool of any server: `cargo run -p mcp-revisions --example client -- SERVER [ARGUMENT...]`.

use mcp_revisions::Client;
use mcp_revisions::latest::{CallServer, CallToolRequestParams};
use mcp_revisions::mcp_wire::JsonObject;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Starts the server, and finds out which protocol version it speaks.
    let client = Client::builder(&mcp_revisions::program!()).command(std::env::args().skip(1))?;
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    let arguments = JsonObject::from_text(r#"{"name": "Paris"}"#)?;
    let call = CallToolRequestParams::new("weather").with_arguments(arguments);
    println!("{:?}", client.call_tool(call).await?.structured_content);
    Ok(client.close().await?)
}
