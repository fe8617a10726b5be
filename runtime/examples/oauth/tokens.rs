//! How a client comes by its token: it follows the challenge to the server's metadata, from there to those of the
//! authorization server, and asks for a token there, by the `oauth2` crate and in its own name (client credentials).
//!
//! A challenge comes from a server that is not trusted with more than its own tokens: it is followed to that server's own
//! metadata and to the authorization server that this client is registered with, and nowhere else.
//!
//! For a person's token, exchange a code instead; the rest is the same.

use std::error::Error;
use std::io;
use std::sync::Mutex;
use std::time::Duration;

use axum::body::Bytes;
use http::{StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::TokioExecutor;
use mcp_revisions::service::client::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, HttpRequest, RefusalFate,
};
use oauth2::basic::BasicClient;
use oauth2::{
    ClientId, ClientSecret, HttpRequest as TokenRequest, HttpResponse, TokenResponse, TokenUrl,
};
use serde_json::Value;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Registration of this client with one authorization server. The secret is sent only to that server, even if a challenge
/// names another one.
pub(crate) struct Registration {
    pub(crate) issuer: String,
    pub(crate) client: String,
    pub(crate) secret: String,
}

/// Gets tokens for one server, and keeps the last one.
pub(crate) struct Tokens {
    server: String,
    registration: Registration,
    token: Mutex<Option<String>>,
}

impl Tokens {
    /// Tokens for the server at this URL, of the authorization server that the client is registered with.
    pub(crate) fn of(server: &str, registration: Registration) -> Self {
        Self {
            server: server.to_owned(),
            registration,
            token: Mutex::new(None),
        }
    }

    /// Follows a challenge to a token.
    async fn fetch(&self, challenge: &str) -> Result<(), Failure> {
        let Registration {
            issuer,
            client,
            secret,
        } = &self.registration;
        let (_, metadata) = challenge
            .split_once("resource_metadata=\"")
            .ok_or("the challenge names no metadata")?;
        let metadata = metadata.split('"').next().unwrap_or_default();
        // The server speaks of itself, at a place of its own (RFC 9728): no other is asked because it says so.
        if origin(metadata)? != origin(&self.server)? {
            return Err("the metadata are at another server".into());
        }
        let resource = page(metadata).await?;
        // A token for another server is none that this one should see.
        if resource["resource"] != *self.server {
            return Err("the metadata are those of another server".into());
        }
        let servers = resource["authorization_servers"].as_array();
        if !servers.is_some_and(|servers| servers.iter().any(|one| one == issuer)) {
            return Err(format!("the server takes no tokens of {issuer}").into());
        }
        let server = page(&metadata_of(issuer)?).await?;
        // Tokens are asked for where the one who was named says so of itself, and nowhere else (RFC 8414).
        if server["issuer"] != **issuer {
            return Err("the metadata are those of another authorization server".into());
        }
        let endpoint = server["token_endpoint"].as_str().unwrap_or_default();
        origin(endpoint)?;
        let client = BasicClient::new(ClientId::new(client.clone()))
            .set_client_secret(ClientSecret::new(secret.clone()))
            .set_token_uri(TokenUrl::new(endpoint.to_owned())?);
        let answer = client
            .exchange_client_credentials()
            // The token is for this server only (RFC 8707).
            .add_extra_param("resource", &self.server)
            .request_async(&send)
            .await?;
        let mut token = self.token.lock().map_err(|_| "a thread failed")?;
        *token = Some(answer.access_token().secret().clone());
        Ok(())
    }
}

/// Returns the scheme and authority of a URL whose requests are protected: over TLS, or to this machine.
fn origin(url: &str) -> Result<(String, String), Failure> {
    let url: Uri = url.parse()?;
    let (Some(scheme), Some(host), Some(authority)) =
        (url.scheme_str(), url.host(), url.authority())
    else {
        return Err(format!("`{url}` is not a whole URL").into());
    };
    let is_here = ["127.0.0.1", "[::1]", "localhost"].contains(&host);
    if authority.as_str().contains('@') || !(scheme == "https" || scheme == "http" && is_here) {
        return Err(format!("`{url}` is not protected: expected https://").into());
    }
    Ok((scheme.to_owned(), authority.as_str().to_ascii_lowercase()))
}

/// Where an authorization server says what it does: its well-known path stands before the path of the issuer.
fn metadata_of(issuer: &str) -> Result<String, Failure> {
    let (scheme, authority) = origin(issuer)?;
    let path = issuer
        .parse::<Uri>()?
        .path()
        .trim_end_matches('/')
        .to_owned();
    let known = "/.well-known/oauth-authorization-server";
    Ok(format!("{scheme}://{authority}{known}{path}"))
}

impl AuthProvider for Tokens {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        let token = self.token.lock().ok().and_then(|token| token.clone());
        let credentials = token.map_or_else(Credentials::default, |it| Credentials::bearer(&it));
        Box::pin(async move { Ok(credentials) })
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let challenge = refusal.challenges().next().unwrap_or_default().to_owned();
        Box::pin(async move {
            println!("challenged: {challenge}");
            match self.fetch(&challenge).await {
                Ok(()) => RefusalFate::Retry,
                Err(error) => RefusalFate::give_up(format!("no token: {error}")),
            }
        })
    }
}

/// How long an answer of either server may be, and how long it may take.
const ANSWER_BYTES: usize = 64 << 10;
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Sends what the `oauth2` crate wants sent. Redirects are not followed: they would take the secret elsewhere.
async fn send(request: TokenRequest) -> Result<HttpResponse, io::Error> {
    let answer = async {
        let client = Hyper::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let answer = client.request(request.map(Full::from)).await;
        let (parts, body) = answer.map_err(io::Error::other)?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES).collect().await;
        let body = body.map_err(io::Error::other)?.to_bytes().to_vec();
        Ok(http::Response::from_parts(parts, body))
    };
    tokio::time::timeout(ANSWER_TIME, answer).await?
}

async fn page(url: &str) -> Result<Value, Failure> {
    let request = http::Request::get(url).body(Vec::new())?;
    let answer = send(request).await?;
    match answer.status() {
        StatusCode::OK => Ok(serde_json::from_slice(answer.body())?),
        status => Err(format!("{url} answered {status}").into()),
    }
}
