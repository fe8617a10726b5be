//! How a client comes by its token: it follows the challenge to the server's metadata, from there to those of the
//! authorization server, and asks for a token there, by the `oauth2` crate and in its own name (client credentials).
//!
//! For a person's token, exchange a code instead; the rest is the same.

use std::error::Error;
use std::sync::Mutex;

use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::TokioExecutor;
use mcp_revisions::service::client::{Authorize, Pending};
use oauth2::basic::BasicClient;
use oauth2::{ClientId, ClientSecret, HttpRequest, HttpResponse, TokenResponse, TokenUrl};
use serde_json::Value;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Gets tokens for one server, and keeps the last one.
pub(crate) struct Tokens {
    server: String,
    token: Mutex<Option<String>>,
}

impl Tokens {
    /// Tokens for the server at this URL.
    pub(crate) fn of(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            token: Mutex::new(None),
        }
    }

    /// Follows a challenge to a token.
    async fn fetch(&self, challenge: &str) -> Result<(), Failure> {
        let (_, metadata) = challenge
            .split_once("resource_metadata=\"")
            .ok_or("the challenge names no metadata")?;
        let metadata = metadata.split('"').next().unwrap_or_default();
        let resource = page(metadata).await?;
        // A token for another server is none that this one should see.
        if resource["resource"] != self.server {
            return Err("the metadata are those of another server".into());
        }
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
            .add_extra_param("resource", &self.server)
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
    Ok(http::Response::from_parts(parts, body.unwrap_or_default()))
}

async fn page(url: &str) -> Result<Value, Failure> {
    let request = http::Request::get(url).body(Vec::new())?;
    Ok(serde_json::from_slice(send(request).await?.body())?)
}
