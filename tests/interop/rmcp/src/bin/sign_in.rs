//! rmcp signs in to a server: `sign_in URL`; one JSON line for each step. The page is a line of standard error.

use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation,
    ReadResourceRequestParams,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("sign_in URL")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let mut state = OAuthState::new(&url, None).await?;
    let request = AuthorizationRequest::new(format!("{origin}/callback")).with_scopes(["read"]);
    state.start_authorization(request).await?;
    eprintln!("{}", state.get_authorization_url().await?);
    let (stream, _) = listener.accept().await?;
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    stream.read_line(&mut line).await?;
    let target = line.split(' ').nth(1).ok_or("no target")?;
    let page = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nsigned in";
    stream.write_all(page).await?;
    state
        .handle_callback_url(&format!("{origin}{target}"))
        .await?;
    let manager = state.into_authorization_manager().ok_or("no manager")?;
    let client = AuthClient::new(reqwest::Client::new(), manager);
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let capabilities = ClientCapabilities::builder().build();
    let config = ClientConfig::new(capabilities, Implementation::from_build_env());
    let client = config.serve(transport).await?;
    let revision = client
        .peer_info()
        .map(|info| info.protocol_version.to_string());
    println!("{}", json!({"step": "connect", "value": revision}));
    let tools = client.list_all_tools().await?;
    let names: Vec<String> = tools
        .into_iter()
        .map(|tool| tool.name.to_string())
        .collect();
    println!("{}", json!({"step": "tools/list", "value": names}));
    let arguments = json!({"a": 1, "b": 2})
        .as_object()
        .cloned()
        .unwrap_or_default();
    let add = CallToolRequestParams::new("add").with_arguments(arguments);
    let added = json!(client.call_tool(add).await?);
    println!(
        "{}",
        json!({"step": "tools/call", "value": added["content"][0]["text"]})
    );
    let greeting = ReadResourceRequestParams::new("example://greeting");
    let read = json!(client.read_resource(greeting).await?);
    println!(
        "{}",
        json!({"step": "resources/read", "value": read["contents"][0]["text"]})
    );
    Ok(())
}
