//! An MCP server and its authorization server on one port, whose peculiarities are values; and the browser of a person.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use mcp_revisions::auth::Settings;
use mcp_revisions::http::{Options, Service};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{FileStore, Http, OAuth, OAuthBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::transports::{client, router};

/// The path of the metadata of the resource.
pub(super) const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
/// The path of the metadata of the authorization server.
pub(super) const METADATA: &str = "/.well-known/oauth-authorization-server";

/// The peculiarities of the servers. `{origin}` in their texts is where the servers are.
#[derive(Clone)]
pub(super) struct Quirks {
    /// The path of the MCP server.
    pub(super) path: &'static str,
    /// The requests to it that need a token.
    pub(super) guarded: GuardedRequests,
    /// The challenge to those without one; no header if it is empty.
    pub(super) challenge: &'static str,
    /// The body of their refusal.
    pub(super) refusal: &'static str,
    /// The paths with the metadata of the resource, and of the authorization server.
    pub(super) resource_places: &'static [&'static str],
    pub(super) metadata_places: &'static [&'static str],
    /// Members of documents and responses that are others; null leaves them out.
    pub(super) resource: Value,
    pub(super) metadata: Value,
    pub(super) registration: Value,
    pub(super) token: Value,
    /// The requests to the authorization server that are refused.
    pub(super) rules: Vec<Rule>,
}

/// The requests of MCP that need a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardedRequests {
    All,
    Calls,
    Streams,
}

/// A request that a server refuses.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// The request, as [`Seen::steps`] has it.
    pub(super) step: &'static str,
    /// A parameter, or `authorization` for the header.
    pub(super) parameter: &'static str,
    /// Says whether its value is refused.
    pub(super) refuses: fn(Option<&str>) -> bool,
    /// The code of the error, the status of a page, or the URL of a redirect.
    pub(super) error: &'static str,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            path: "/mcp",
            guarded: GuardedRequests::All,
            challenge: "Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"",
            refusal: "",
            resource_places: &[RESOURCE],
            metadata_places: &[METADATA],
            resource: Value::Null,
            metadata: Value::Null,
            registration: Value::Null,
            token: Value::Null,
            rules: Vec::new(),
        }
    }
}

/// What the servers have seen, and which tokens and clients are good.
#[derive(Default)]
pub(super) struct Seen {
    /// Method and path of each request but those of MCP, with the grant of a token request.
    pub(super) steps: Vec<String>,
    pub(super) registrations: usize,
    pub(super) pages: usize,
    pub(super) codes: usize,
    pub(super) refreshes: usize,
    /// Tokens up to this number are refused.
    pub(super) withdrawn: usize,
    /// Clients up to this number are not known any more.
    pub(super) forgotten: usize,
}

impl Seen {
    /// The number of the last token.
    fn token(&self) -> usize {
        self.codes + self.refreshes
    }
}

#[derive(Clone)]
pub(super) struct Servers {
    pub(super) origin: String,
    pub(super) url: String,
    pub(super) seen: Arc<Mutex<Seen>>,
    /// Becomes true once a stream of events was opened with a token.
    pub(super) streams: watch::Sender<bool>,
    quirks: Quirks,
    service: Service,
}

impl Servers {
    pub(super) async fn start(quirks: Quirks) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let service = router().build("guarded", "1.0.0").unwrap();
        let servers = Self {
            url: format!("{origin}{}", quirks.path),
            origin,
            seen: Arc::default(),
            streams: watch::channel(false).0,
            service: service.into_http_service(Options::default().with_http_sse("/sse")),
            quirks,
        };
        let answers = servers.clone();
        let app = axum::Router::new().fallback(move |request: Request| {
            let servers = answers.clone();
            async move { servers.answer(request).await }
        });
        crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
        servers
    }

    pub(super) fn counts(&self) -> [usize; 4] {
        let seen = self.seen.lock().unwrap();
        [seen.registrations, seen.pages, seen.codes, seen.refreshes]
    }

    /// Takes the requests since the last time.
    pub(super) fn steps(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().steps)
    }

    /// Returns a document with the members that are others here.
    fn document(&self, mut document: Value, others: &Value) -> Value {
        for (name, value) in others.as_object().into_iter().flatten() {
            document[name] = value.clone();
        }
        let members = document.as_object_mut().unwrap();
        members.retain(|_, value| !value.is_null());
        let text = document.to_string().replace("{origin}", &self.origin);
        serde_json::from_str(&text).unwrap()
    }

    fn metadata(&self) -> Value {
        let document = json!({"issuer": "{origin}", "authorization_endpoint": "{origin}/authorize",
            "token_endpoint": "{origin}/token", "registration_endpoint": "{origin}/register",
            "revocation_endpoint": "{origin}/revoke", "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true});
        self.document(document, &self.quirks.metadata)
    }

    async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let path = head.uri.path();
        let token = head
            .headers
            .get("authorization")
            .and_then(|it| it.to_str().ok());
        let is_of_mcp = path == self.quirks.path || path.starts_with("/sse");
        if is_of_mcp {
            let is_stream = head.method == Method::GET;
            let is_guarded = match self.quirks.guarded {
                GuardedRequests::All => true,
                GuardedRequests::Streams => is_stream,
                GuardedRequests::Calls => {
                    String::from_utf8_lossy(&body).contains(r#""tools/call""#)
                }
            };
            if is_guarded && let Some(refusal) = self.refusal(token) {
                return refusal;
            }
            if is_stream && token.is_some() {
                self.streams.send_replace(true);
            }
            let request = Request::from_parts(head, Body::from(body));
            return self
                .service
                .clone()
                .oneshot(request)
                .await
                .unwrap()
                .map(Body::new);
        }
        let query = head.uri.query().unwrap_or_default().as_bytes();
        let text = if head.method == Method::GET {
            query
        } else {
            &body
        };
        let mut parameters = parameters(text);
        parameters.extend(token.map(|it| ("authorization".to_owned(), it.to_owned())));
        let of = |name: &str| {
            let found = parameters.iter().find(|(one, _)| one == name);
            found.map(|(_, value)| value.as_str())
        };
        let grant = of("grant_type").map(|it| format!(" {it}"));
        let step = format!("{} {path}{}", head.method, grant.unwrap_or_default());
        let mut seen = self.seen.lock().unwrap();
        seen.steps.push(step.clone());
        let mut rules = self.quirks.rules.iter();
        let is_broken = |rule: &&Rule| rule.step == step && (rule.refuses)(of(rule.parameter));
        let error = rules.find(is_broken).map(|rule| rule.error);
        if let Some(status) = error.and_then(|it| it.parse().ok()) {
            let status = StatusCode::from_u16(status).unwrap();
            return (status, "<html>\u{1b}[31mno</html>").into_response();
        }
        if let Some(to) = error.filter(|it| it.contains('/')) {
            let to = to.replace("{origin}", &self.origin);
            return (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response();
        }
        let client = of("client_id").and_then(|it| it.strip_prefix("client-")?.parse().ok());
        let is_forgotten = client.is_some_and(|client: usize| client <= seen.forgotten);
        let document = |document: &Value| axum::Json(document.clone()).into_response();
        if self.quirks.resource_places.contains(&path) {
            let resource = json!({"resource": self.url, "authorization_servers": ["{origin}"]});
            return document(&self.document(resource, &self.quirks.resource));
        }
        if self.quirks.metadata_places.contains(&path) {
            return document(&self.metadata());
        }
        match path {
            "/authorize" if is_forgotten => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unknown client").into_response()
            }
            "/authorize" => {
                seen.pages += 1;
                let outcome = error.map_or("code=c0de".to_owned(), |it| format!("error={it}"));
                let (redirect, state) = (of("redirect_uri").unwrap(), of("state").unwrap());
                let metadata = self.metadata();
                let issuer = metadata["issuer"].as_str().unwrap();
                let location = format!("{redirect}?{outcome}&state={state}&iss={issuer}");
                (StatusCode::FOUND, [("location", location)]).into_response()
            }
            _ if error.is_some() => refused(error.unwrap_or_default()),
            "/register" => {
                seen.registrations += 1;
                let id = format!("client-{}", seen.registrations);
                let registered = self.document(json!({"client_id": id}), &self.quirks.registration);
                (StatusCode::CREATED, axum::Json(registered)).into_response()
            }
            "/token" if is_forgotten => refused("invalid_client"),
            "/token" => {
                match of("grant_type") {
                    Some("authorization_code") => seen.codes += 1,
                    // Each token refreshes once: a second use ends all of them.
                    Some("refresh_token") => {
                        if of("refresh_token") != Some(&format!("r3fresh-{}", seen.token())) {
                            seen.withdrawn = seen.token();
                            return refused("invalid_grant");
                        }
                        seen.refreshes += 1;
                    }
                    _ => return refused("unsupported_grant_type"),
                }
                let number = seen.token();
                let token = json!({"access_token": format!("s3cret-{number}"), "token_type": "bearer",
                    "expires_in": 3600, "refresh_token": format!("r3fresh-{number}")});
                document(&self.document(token, &self.quirks.token))
            }
            "/revoke" => document(&json!({})),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    /// The response to a request of MCP without a token that is good.
    fn refusal(&self, token: Option<&str>) -> Option<Response> {
        let number = token.and_then(|it| it.strip_prefix("Bearer s3cret-"));
        let number: usize = number.and_then(|it| it.parse().ok()).unwrap_or_default();
        if number > self.seen.lock().unwrap().withdrawn {
            return None;
        }
        let mut headers = HeaderMap::new();
        let challenge = self.quirks.challenge.replace("{origin}", &self.origin);
        if !challenge.is_empty() {
            headers.insert("www-authenticate", challenge.parse().unwrap());
        }
        headers.insert("content-type", "application/json".parse().unwrap());
        Some((StatusCode::UNAUTHORIZED, headers, self.quirks.refusal).into_response())
    }

    /// Begins a provider, whose browser opens pages once the gate is open.
    pub(super) fn builder(&self, settings: Settings, gate: watch::Receiver<bool>) -> OAuthBuilder {
        let http = Http::new(&self.url).unwrap();
        let browser = move |page: &str| {
            let (page, mut gate) = (page.to_owned(), gate.clone());
            crate::support::spawn(async move {
                gate.wait_for(|is_open| *is_open).await.unwrap();
                let answer = fetch(&page).await;
                // A page that says what is wrong leads nowhere.
                let Some((_, rest)) = answer.split_once("location: ") else {
                    return;
                };
                let after = fetch(rest.lines().next().unwrap()).await;
                let is_code = rest.contains("code=c0de");
                assert_eq!(after.contains("200 OK"), is_code, "{after}");
                assert!(after.contains("no-store"), "{after}");
            });
        };
        OAuth::builder(&http, settings, browser)
    }

    /// Returns a provider that keeps its tokens in a store.
    pub(super) fn oauth(
        &self,
        store: Option<FileStore>,
        wait: Duration,
        gate: watch::Receiver<bool>,
    ) -> OAuth {
        let builder = self
            .builder(Settings::new(&self.url), gate)
            .with_call_timeout(wait);
        match store {
            Some(store) => builder.with_store(store).build(),
            None => builder.build(),
        }
    }

    pub(super) fn client(&self, oauth: &OAuth) -> Client {
        let http = Http::new(&self.url).unwrap();
        client().http(http.with_authorization(oauth.clone()))
    }
}

/// The members of a form, of a query or of a JSON object.
fn parameters(text: &[u8]) -> Vec<(String, String)> {
    if let Ok(Value::Object(members)) = serde_json::from_slice(text) {
        let members = members.into_iter();
        return members
            .map(|(name, value)| (name, value.to_string()))
            .collect();
    }
    let uri = format!("/?{}", String::from_utf8_lossy(text));
    let uri = uri.parse().unwrap();
    axum::extract::Query::try_from_uri(&uri).unwrap().0
}

fn refused(error: &str) -> Response {
    let status = match error {
        "invalid_client" => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    (status, axum::Json(json!({"error": error}))).into_response()
}

/// The response to a GET.
pub(super) async fn fetch(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap());
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

pub(super) fn open() -> watch::Receiver<bool> {
    watch::channel(true).1
}
