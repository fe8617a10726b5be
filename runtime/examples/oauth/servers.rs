//! The other two: a server that wants a token, and an authorization server that hands them out, on one port.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Form, Json};
use http::StatusCode;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use mcp_revisions::service::Router;
use serde_json::{Value, json};

use crate::tokens::Failure;

/// A server that wants a token, and one that hands it out.
pub(crate) fn servers(origin: &str) -> Result<axum::Router, Failure> {
    let metadata = format!("{origin}/.well-known/oauth-protected-resource");
    let challenge = Arc::new(format!("Bearer resource_metadata=\"{metadata}\""));
    let guard = move |request: Request, next: Next| {
        let challenge = Arc::clone(&challenge);
        async move {
            let token = request.headers().get(AUTHORIZATION);
            if token.is_some_and(|token| token == "Bearer for-this-server") {
                next.run(request).await
            } else {
                let headers = [(WWW_AUTHENTICATE, challenge.as_str())];
                (StatusCode::UNAUTHORIZED, headers).into_response()
            }
        }
    };
    let mcp = Router::new()
        .tool("secret", "Only for those with a token.", || async { "42" })
        .build("guarded", "1.0.0")?
        .into_http_service(mcp_revisions::http::Options::default());
    let resource = json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]});
    let issuer = json!({"issuer": origin, "token_endpoint": format!("{origin}/token")});
    let wanted = format!("{origin}/mcp");
    let token = move |Form(form): Form<Vec<(String, String)>>| async move {
        let has = |name: &str, value: &str| form.iter().any(|(n, v)| n == name && v == value);
        if has("grant_type", "client_credentials") && has("resource", &wanted) {
            let issued = json!({"access_token": "for-this-server", "token_type": "Bearer"});
            Json(issued).into_response()
        } else {
            let why = Json(json!({"error": "invalid_request"}));
            (StatusCode::BAD_REQUEST, why).into_response()
        }
    };
    let document = |content: Value| get(move || async move { Json(content) });
    Ok(axum::Router::new()
        .route_service("/mcp", mcp)
        .layer(from_fn(guard))
        .route("/.well-known/oauth-protected-resource", document(resource))
        .route("/.well-known/oauth-authorization-server", document(issuer))
        .route("/token", post(token)))
}
