//! A client that gets its token by OAuth once the server challenges it: `cargo run -p mcp-revisions --example oauth`.
//!
//! All three are here, on this machine: a server that wants a token, an authorization server that hands them out, and the
//! client. What the client does is [`Tokens`]: it follows the challenge to the server's metadata, from there to those of
//! the authorization server, and asks for a token there, by the `oauth2` crate and in its own name (client credentials).
//! For a person's token, exchange a code instead; the rest is the same.

use std::error::Error;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Form, Json};
use http::StatusCode;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::TokioExecutor;
use mcp_revisions::newest::CallServer;
use mcp_revisions::service::client::{Authorize, Http, Pending};
use mcp_revisions::service::{Client, Router};
use oauth2::basic::BasicClient;
use oauth2::{ClientId, ClientSecret, HttpRequest, HttpResponse, TokenResponse, TokenUrl};
use serde_json::{Value, json};

type Failure = Box<dyn Error + Send + Sync>;

/// Gets tokens, and keeps the last one.
#[derive(Default)]
struct Tokens {
    token: Mutex<Option<String>>,
}

impl Tokens {
    /// Follows a challenge to a token.
    async fn fetch(&self, challenge: &str) -> Result<(), Failure> {
        let (_, metadata) = challenge
            .split_once("resource_metadata=\"")
            .ok_or("the challenge names no metadata")?;
        let metadata = metadata.split('"').next().unwrap_or_default();
        let resource = page(metadata).await?;
        let issuer = resource["authorization_servers"][0].as_str();
        let issuer = issuer.ok_or("nobody is named who hands out tokens")?;
        let server = page(&format!("{issuer}/.well-known/oauth-authorization-server")).await?;
        // Tokens are asked for where the one who was named says so of itself, and nowhere else.
        if server["issuer"] != issuer {
            return Err("the metadata are those of another authorization server".into());
        }
        let endpoint = server["token_endpoint"].as_str().unwrap_or_default();
        let client = BasicClient::new(ClientId::new("example".to_owned()))
            .set_client_secret(ClientSecret::new("secret".to_owned()))
            .set_token_uri(TokenUrl::new(endpoint.to_owned())?);
        let answer = client
            .exchange_client_credentials()
            // The token is for this server alone.
            .add_extra_param(
                "resource",
                resource["resource"].as_str().unwrap_or_default(),
            )
            .request_async(&send)
            .await?;
        let mut token = self.token.lock().map_err(|_| "a thread failed")?;
        *token = Some(answer.access_token().secret().clone());
        Ok(())
    }
}

impl Authorize for Tokens {
    fn header(&self) -> Pending<'_, Option<String>> {
        let token = self.token.lock().ok().and_then(|token| token.clone());
        Box::pin(async move { token.map(|token| format!("Bearer {token}")) })
    }

    fn challenged(&self, challenge: &str) -> Pending<'_, bool> {
        let challenge = challenge.to_owned();
        Box::pin(async move {
            println!("challenged: {challenge}");
            let fetched = self.fetch(&challenge).await;
            if let Err(error) = &fetched {
                eprintln!("no token: {error}");
            }
            fetched.is_ok()
        })
    }
}

/// Sends what the `oauth2` crate wants sent.
async fn send(request: HttpRequest) -> Result<HttpResponse, hyper_util::client::legacy::Error> {
    let client = Hyper::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let (parts, body) = client.request(request.map(Full::from)).await?.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec());
    Ok(Response::from_parts(parts, body.unwrap_or_default()))
}

async fn page(url: &str) -> Result<Value, Failure> {
    let request = http::Request::get(url).body(Vec::new())?;
    Ok(serde_json::from_slice(send(request).await?.body())?)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, servers(&origin)?).into_future());

    let http = Http::new(&format!("{origin}/mcp"))?.with_authorization(Tokens::default());
    let client = Client::new(&mcp_revisions::program!()).http(http);
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    Ok(client.close().await?)
}

/// A server that wants a token, and one that hands it out.
fn servers(origin: &str) -> Result<axum::Router, Failure> {
    let metadata = format!("{origin}/.well-known/oauth-protected-resource");
    let challenge = Arc::new(format!("Bearer resource_metadata=\"{metadata}\""));
    let guard = move |request: Request, next: Next| {
        let challenge = Arc::clone(&challenge);
        async move {
            let token = request.headers().get(AUTHORIZATION);
            match token.is_some_and(|token| token == "Bearer for-this-server") {
                true => next.run(request).await,
                false => {
                    let headers = [(WWW_AUTHENTICATE, challenge.as_str())];
                    (StatusCode::UNAUTHORIZED, headers).into_response()
                }
            }
        }
    };
    let mcp = Router::new()
        .tool("secret", "Only for those with a token.", || async { "42" })
        .serve("guarded", "1.0.0")?
        .into_http(mcp_revisions::http::Options::default());
    let resource = json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]});
    let issuer = json!({"issuer": origin, "token_endpoint": format!("{origin}/token")});
    let wanted = format!("{origin}/mcp");
    let token = move |Form(form): Form<Vec<(String, String)>>| async move {
        let has = |name: &str, value: &str| form.iter().any(|(n, v)| n == name && v == value);
        match has("grant_type", "client_credentials") && has("resource", &wanted) {
            true => Json(json!({"access_token": "for-this-server", "token_type": "Bearer"}))
                .into_response(),
            false => (
                StatusCode::BAD_REQUEST,
                Body::from("{\"error\":\"invalid_request\"}"),
            )
                .into_response(),
        }
    };
    let told = |what: Value| get(move || async move { Json(what) });
    Ok(axum::Router::new()
        .route_service("/mcp", mcp)
        .layer(from_fn(guard))
        .route("/.well-known/oauth-protected-resource", told(resource))
        .route("/.well-known/oauth-authorization-server", told(issuer))
        .route("/token", post(token)))
}
