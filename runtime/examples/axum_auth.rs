//! A server inside axum that wants access tokens: `cargo run -p mcp-revisions --example axum_auth [-- PORT]`.
//!
//! The guard serves the metadata by which clients of every revision find out where to sign in, and checks the token of each
//! request. Sessions, suspended requests and memory limits belong to the principal of the token from then on: no other
//! principal can use a session, even with its id.

use std::time::Duration;

use mcp_revisions::http::{
    self, Options, ProtectedResource, ResourceGuard, TokenClaims, TokenRefusal,
};
use mcp_revisions::mcp_wire::JsonObject;
use mcp_revisions::{Error, RequestContext, Router};
use serde_json::json;

/// The issuer of tokens: clients sign in there.
const ISSUER: &str = "https://auth.example.com";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args()
        .nth(1)
        .map_or(Ok(8080), |port| port.parse())?;
    let listener = http::bind(("127.0.0.1", port)).await?;
    // The URL that clients connect to: behind a proxy, that of the proxy.
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let resource = ProtectedResource::new(&url, ISSUER)?.with_scopes(["contracts:sign"]);
    let metadata = resource.metadata_path();
    let audience = url.clone();
    let guard = ResourceGuard::new(resource, move |token| verify(token, audience.clone()));
    let mcp = Router::new()
        .tool("whoami", "Returns the name of the caller.", whoami)
        .tool("sign", "Signs the contract.", || async { "Signed." })
        .with_scopes(["contracts:sign"])
        .build("whoami", "1.0.0")?
        // The names that clients use for this server. Loopback names are allowed anyway.
        .allow_host("mcp.example.com")
        .into_http_service(Options::new().with_guard(guard));
    let app = axum::Router::new()
        .route_service("/mcp", mcp.clone())
        .route_service(&metadata, mcp.clone());

    println!("listening on {url}");
    let grace = Duration::from_secs(10);
    http::serve_layered(listener, app, &mcp, mcp_revisions::stop_signal()?, grace).await;
    Ok(())
}

/// Returns the name of the person that sent the request.
async fn whoami(cx: RequestContext) -> Result<String, Error> {
    let claims = cx.peer().and_then(|peer| peer.extension::<TokenClaims>());
    match claims.and_then(TokenClaims::subject) {
        Some(name) => Ok(format!("You are {name}.")),
        None => Err(Error::internal("the request has no token")),
    }
}

/// Looks a token up. A real server verifies a signature, or asks the introspection endpoint of its authorization server; the
/// guard checks issuer, audience and expiry.
async fn verify(token: String, audience: String) -> Result<TokenClaims, TokenRefusal> {
    let (name, scope) = match token.as_str() {
        "token-of-ada" => ("ada", "contracts:sign"),
        "token-of-alan" => ("alan", ""),
        _ => return Err(TokenRefusal::Invalid("the token is not known".to_owned())),
    };
    let claims = json!({ "iss": ISSUER, "sub": name, "aud": audience, "scope": scope });
    let claims = JsonObject::from_value(&claims);
    let claims = claims.map_err(|error| TokenRefusal::Unavailable(error.to_string()))?;
    Ok(TokenClaims::new(claims))
}
