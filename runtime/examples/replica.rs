//! One of several replicas behind a load balancer, which names the address of each client in `X-Forwarded-For`:
//! `LISTEN=127.0.0.1:8081 REDIS_URL=redis://127.0.0.1/ MCP_KEY=$(openssl rand -hex 32) cargo run -p mcp-revisions --example replica`.

mod arguments;
mod handlers;

use std::io::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::map_request;
use mcp_revisions::backplane::Redis;
use mcp_revisions::http::{self, Options, PeerAddress};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::{Error, RequestContext, RevisionSet};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stop = mcp_revisions::stop_signal()?;
    let (only, _) = arguments::arguments()?;
    // The key is the same for all replicas.
    let key = key(&std::env::var("MCP_KEY")?).ok_or("MCP_KEY: expected 64 hexadecimal digits")?;
    let url = std::env::var("REDIS_URL")?;
    let backplane = tokio::select! {
        backplane = Redis::connect(url) => backplane?,
        () = &mut stop => return Ok(()),
    };
    let options = Options::new()
        // The balancer is what checks the name, and has all connections.
        .with_any_host()
        .with_connections_per_address(10_000)
        .with_health("/healthz")
        .with_readiness("/readyz")
        // Longer than the balancer takes to notice: two checks, half a second apart.
        .with_lame_duck(Duration::from_secs(3))
        .with_http_sse("/sse")
        .with_backplane(backplane);
    let server = handlers::server(only.unwrap_or_else(RevisionSet::all))?
        .with_request_state_key(key)
        .custom_method("example/address", address);
    let service = server.into_http_service(options);
    let layers = axum::Router::new()
        .fallback_service(service.clone())
        .layer(map_request(of_client));

    let listener = http::bind(std::env::var("LISTEN")?).await?;
    // A full disk behind the output does not end the replica.
    let address = listener.local_addr()?;
    let _ = writeln!(std::io::stdout(), "listening on http://{address}/mcp");
    // Calls that are open may finish.
    let grace = Duration::from_secs(30);
    http::serve_layered(listener, layers, &service, stop, grace).await;
    Ok(())
}

/// Replaces the address of the balancer, which sets the header, by that of the client.
async fn of_client(mut request: Request) -> Request {
    let header = request.headers().get("x-forwarded-for");
    let address = header.and_then(|header| header.to_str().ok()?.parse::<IpAddr>().ok());
    if let Some(address) = address {
        request.extensions_mut().insert(PeerAddress(address));
    }
    request
}

/// Returns the address of the client.
async fn address(_: Json, cx: RequestContext) -> Result<Json, Error> {
    let address = cx.peer().and_then(|peer| peer.extension::<PeerAddress>());
    let address = address.map_or_else(String::new, |address| address.0.to_string());
    Ok(Json::from(serde_json::json!({ "address": address })))
}

fn key(hex: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (hex.len() == 64).then_some(key)
}
