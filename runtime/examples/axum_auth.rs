//! A server inside axum, behind bearer tokens: `cargo run -p mcp-revisions --example axum_auth [-- PORT]`.
//!
//! The layer checks the token and puts a [`Principal`] into the request. Sessions, suspended requests and memory limits
//! belong to the principal from then on: no other principal can use a session, even with its id.

use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use mcp_revisions::Latest;
use mcp_revisions::http::{self, Options, Principal};
use mcp_revisions::service::{Error, RequestContext, Router};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args()
        .nth(1)
        .map_or(Ok(8080), |port| port.parse())?;
    let mcp = Router::new()
        .tool("whoami", "Returns the name of the caller.", whoami)
        .build("whoami", "1.0.0")?
        // The names that clients use for this server. Loopback names are allowed anyway.
        .allow_host("mcp.example.com")
        .into_http_service(Options::default());
    let app = axum::Router::new()
        .route_service("/mcp", mcp.clone())
        .layer(from_fn(authenticate));

    let listener = http::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    let grace = Duration::from_secs(10);
    http::serve_layered(listener, app, &mcp, http::stop_signal()?, grace).await;
    Ok(())
}

/// Returns the name of the principal that sent the request.
async fn whoami(cx: RequestContext<Latest>) -> Result<String, Error> {
    let principal = cx.peer().and_then(|peer| peer.extension::<Principal>());
    match principal {
        Some(Principal(name)) => Ok(format!("You are {name}.")),
        None => Err(Error::internal("the request has no principal")),
    }
}

/// Refuses requests without a known token, and names the principal of the others.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|header| header.to_str().ok()?.strip_prefix("Bearer "));
    match token.and_then(principal_of) {
        Some(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        None => (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response(),
    }
}

/// Looks a token up. A real server verifies a signed token, and its audience, here.
fn principal_of(token: &str) -> Option<Principal> {
    match token {
        "token-of-ada" => Some(Principal("ada".to_owned())),
        "token-of-alan" => Some(Principal("alan".to_owned())),
        _ => None,
    }
}
