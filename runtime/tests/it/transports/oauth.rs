//! The client of the example `oauth`, against an authorization server and a guarded server that write down who comes.

use std::sync::{Arc, Mutex};

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Form, Json};
use mcp_revisions::http;
use mcp_revisions::service::client::Http;
use mcp_revisions::service::{Client, Error};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::transports::{call, client, router};

#[path = "../../../examples/oauth/tokens.rs"]
mod tokens;

use tokens::{Registration, Tokens};

/// What went on, and which token is good.
#[derive(Default)]
struct Seen {
    steps: Vec<String>,
    handed_out: usize,
    withdrawn: usize,
}

/// What the two servers say of themselves that may be wrong.
#[derive(Clone, Default)]
struct Lies {
    resource: Option<String>,
    issuer: Option<String>,
    /// Where the challenge leads.
    metadata: Option<String>,
    /// Who is named for tokens.
    server: Option<String>,
    /// Where those are asked for.
    token: Option<String>,
}

struct Servers {
    origin: String,
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Servers {
    async fn start(lies: Lies) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{origin}/mcp");
        let seen = Arc::new(Mutex::new(Seen::default()));
        let resource = lies.resource.unwrap_or_else(|| url.clone());
        let server = lies.server.unwrap_or_else(|| origin.clone());
        let resource = json!({"resource": resource, "authorization_servers": [server]});
        let issuer = lies.issuer.unwrap_or_else(|| origin.clone());
        let token_endpoint = lies.token.unwrap_or_else(|| format!("{origin}/token"));
        let issuer = json!({"issuer": issuer, "token_endpoint": token_endpoint});
        let page = |name: &'static str, what: Value| {
            let seen = Arc::clone(&seen);
            get(move || async move {
                seen.lock().unwrap().steps.push(name.to_owned());
                Json(what)
            })
        };
        let told = Arc::clone(&seen);
        let token = post(move |Form(form): Form<Vec<(String, String)>>| async move {
            let mut seen = told.lock().unwrap();
            let of = |name: &str| {
                form.iter()
                    .find(|(one, _)| one == name)
                    .map(|(_, it)| it.as_str())
            };
            let (grant, resource) = (of("grant_type"), of("resource"));
            (seen.steps).push(format!("{} for {}", grant.unwrap(), resource.unwrap()));
            seen.handed_out += 1;
            let token = format!("token-{}", seen.handed_out);
            Json(json!({"access_token": token, "token_type": "Bearer"}))
        });
        let service = router()
            .build("guarded", "1.0.0")
            .unwrap()
            .into_http_service(http::Options::default());
        let guard = Arc::clone(&seen);
        let metadata = (lies.metadata).unwrap_or_else(|| format!("{origin}/metadata"));
        let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
        let guarded = move |request: Request, next: Next| {
            let answer = refused(&guard, &challenge, &request);
            async move {
                match answer {
                    Some(answer) => answer,
                    None => next.run(request).await,
                }
            }
        };
        let app = axum::Router::new()
            .route_service("/mcp", service)
            .layer(from_fn(guarded))
            .route("/metadata", page("metadata", resource))
            .route(
                "/.well-known/oauth-authorization-server",
                page("issuer", issuer),
            )
            .route("/token", token);
        crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { origin, url, seen }
    }

    fn client(&self) -> Client {
        let registration = Registration {
            issuer: self.origin.clone(),
            client: "example".to_owned(),
            secret: "secret".to_owned(),
        };
        let tokens = Tokens::of(&self.url, registration);
        client().http(Http::new(&self.url).unwrap().with_authorization(tokens))
    }

    fn steps(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().steps)
    }
}

/// The answer to a request without the token that is good.
fn refused(seen: &Mutex<Seen>, challenge: &str, request: &Request) -> Option<Response> {
    let mut seen = seen.lock().unwrap();
    let said = request.headers().get("authorization");
    let said = said.map(|said| said.to_str().unwrap().to_owned());
    let good = seen.handed_out > seen.withdrawn;
    let is_good = good && said == Some(format!("Bearer token-{}", seen.handed_out));
    (seen.steps).push(format!(
        "{} {}",
        said.as_deref().unwrap_or("nothing"),
        match is_good {
            true => "taken",
            false => "refused",
        }
    ));
    (!is_good).then(|| {
        (
            axum::http::StatusCode::UNAUTHORIZED,
            [("www-authenticate", challenge)],
        )
            .into_response()
    })
}

#[tokio::test]
async fn a_challenge_is_followed_to_a_token_and_the_request_made_again() {
    let servers = Servers::start(Lies::default()).await;
    let client = servers.client();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let steps = servers.steps();
    let expected = [
        "nothing refused".to_owned(),
        "metadata".to_owned(),
        "issuer".to_owned(),
        format!("client_credentials for {}", servers.url),
        "Bearer token-1 taken".to_owned(),
    ];
    assert_eq!(steps[..5], expected);
    assert!(
        steps[5..].iter().all(|step| step == "Bearer token-1 taken"),
        "{steps:?}"
    );
    // The token is not good any more: another one is fetched in mid-work.
    servers.seen.lock().unwrap().withdrawn = 1;
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let steps = servers.steps();
    assert_eq!(steps.first().unwrap(), "Bearer token-1 refused");
    assert_eq!(steps.last().unwrap(), "Bearer token-2 taken");
    client.close().await.unwrap();
}

#[tokio::test]
async fn no_token_is_asked_for_where_somebody_else_is_named() {
    let elsewhere = Some("http://127.0.0.1:1/mcp".to_owned());
    // One that would take a secret from whoever sends it.
    let other = Servers::start(Lies::default()).await;
    for lies in [
        Lies {
            metadata: Some(format!("{}/metadata", other.origin)),
            ..Lies::default()
        },
        Lies {
            server: Some(other.origin.clone()),
            ..Lies::default()
        },
        Lies {
            token: Some("http://tokens.example.com/token".to_owned()),
            ..Lies::default()
        },
        Lies {
            // The name of a user may hide where a URL leads.
            token: Some(format!(
                "{}/token",
                other
                    .origin
                    .replace("http://", "http://tokens.example.com@")
            )),
            ..Lies::default()
        },
        Lies {
            resource: elsewhere.clone(),
            ..Lies::default()
        },
        Lies {
            issuer: elsewhere,
            ..Lies::default()
        },
    ] {
        let servers = Servers::start(lies).await;
        let client = servers.client();
        let failed = call(&client, "hello").await;
        assert!(failed.is_err(), "{failed:?}");
        assert!(!matches!(failed, Err(Error::Timeout(_))), "{failed:?}");
        assert_eq!(servers.seen.lock().unwrap().handed_out, 0);
        assert_eq!(other.steps(), Vec::<String>::new());
    }
}
