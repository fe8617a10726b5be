//! A server behind the bridge that wants a sign-in: what clients learn, which page they are offered, and which tokens go where.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use mcp_bridge::{Bridge, Upstream};
use mcp_revisions::http::{
    Body, Options, ProtectedResource, ResourceGuard, TokenClaims, TokenRefusal,
};
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::service::client::{
    AuthFuture, AuthProvider, AuthRefusal, ClientContext, Credentials, Http, HttpRequest,
    NeededSignIn, RefusalFate,
};
use mcp_revisions::service::{Client, Error};
use mcp_revisions::{
    Latest, Revision, RevisionSet,
    service::{Boxed, boxed},
};
use serde_json::{Value, json};

use crate::{client, greets, names, server, text};

const PAGE: &str = "https://auth.example/authorize?state=x";
const RESOURCE: &str = "http://localhost/mcp";

type Request = http::Request<Full<Bytes>>;
type Refuses = dyn Fn(&Request) -> Option<http::Response<Body>> + Send + Sync;

/// A service behind a rule that refuses requests, with the statuses of all responses.
#[derive(Clone)]
struct Refusing<S> {
    service: S,
    rule: Arc<Refuses>,
    statuses: Arc<Mutex<Vec<u16>>>,
}

impl<S> Refusing<S> {
    fn new(
        service: S,
        rule: impl Fn(&Request) -> Option<http::Response<Body>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            service,
            rule: Arc::new(rule),
            statuses: Arc::default(),
        }
    }
}

impl<S> tower_service::Service<Request> for Refusing<S>
where
    S: tower_service::Service<Request, Response = http::Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Boxed<'static, Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let refusal = (self.rule)(&request);
        let (mut service, statuses) = (self.service.clone(), Arc::clone(&self.statuses));
        boxed(async move {
            let response = match refusal {
                Some(refusal) => refusal,
                None => service.call(request).await?,
            };
            statuses.lock().unwrap().push(response.status().as_u16());
            Ok(response)
        })
    }
}

fn refusal(status: u16, challenge: &str, body: &str) -> http::Response<Body> {
    let mut response = http::Response::new(Body::from(body.to_owned()));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    let challenge = challenge.parse().unwrap();
    response.headers_mut().insert("www-authenticate", challenge);
    response
}

/// Returns whether a request is the call of a tool.
fn is_call(request: &Request) -> bool {
    use http_body_util::BodyExt as _;
    use std::future::Future as _;
    let mut body = std::pin::pin!(request.body().clone().collect());
    let waker = std::task::Waker::noop();
    match body.as_mut().poll(&mut Context::from_waker(waker)) {
        Poll::Ready(Ok(body)) => {
            String::from_utf8_lossy(&body.to_bytes()).contains(r#""tools/call""#)
        }
        _ => false,
    }
}

fn upstream_of(revision: Revision) -> mcp_revisions::http::Service {
    mcp_revisions::http::Service::new(server(revision), greets)
}

/// Signs in once its person has opened the page.
struct Waiting(Arc<AtomicBool>);

impl AuthProvider for Waiting {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        let is_signed_in = self.0.load(Ordering::SeqCst);
        let credentials = is_signed_in.then(|| Credentials::bearer("of-the-bridge"));
        Box::pin(std::future::ready(Ok(credentials.unwrap_or_default())))
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let needed = NeededSignIn {
            page: Some(PAGE.to_owned()),
            scope: Some("write".to_owned()),
            lacks_scope: refusal.status == http::StatusCode::FORBIDDEN,
            ..NeededSignIn::new(format!("sign in at {PAGE}"))
        };
        Box::pin(std::future::ready(RefusalFate::GiveUp(Some(Box::new(
            needed,
        )))))
    }
}

async fn refused(client: &Client) -> Value {
    let params = Json::from(json!({ "name": "greet", "arguments": {} }));
    let result = client.request("tools/call", Some(params)).await;
    match result.unwrap_err() {
        Error::Rpc(error) => json!({ "code": error.code.as_i64(), "message": error.message,
            "data": error.data.map_or(Value::Null, |data| data.parse().unwrap()) }),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_401_or_403_of_the_server_is_an_error_with_its_reason_and_never_the_status_of_the_client()
{
    let lacks = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    let message = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"unauthorized"}}"#;
    for (status, challenge, body, reason) in [
        (401, "Bearer scope=\"write\"", "", "sign-in-required"),
        (401, "Bearer scope=\"write\"", message, "sign-in-required"),
        (
            403,
            lacks,
            r#"{"error":"insufficient_scope"}"#,
            "insufficient-scope",
        ),
        (403, lacks, message, "insufficient-scope"),
    ] {
        for with_provider in [false, true] {
            for upstream in [Revision::V2025_06_18, Revision::LATEST] {
                let guarded = Refusing::new(upstream_of(upstream), move |request| {
                    is_call(request).then(|| refusal(status, challenge, body))
                });
                let http = Http::in_process(guarded);
                let http = if with_provider {
                    http.with_authorization(Waiting(Arc::default()))
                } else {
                    http
                };
                let service = Bridge::new(Upstream::url(http)).into_service();
                for revision in Revision::NEGOTIATED {
                    let watched = Refusing::new(service.clone(), |_| None);
                    let client = client(*revision).http(Http::in_process(watched.clone()));
                    assert_eq!(names(&client).await, ["greet"], "{revision}");
                    let error = refused(&client).await;
                    assert_eq!(error["data"]["reason"], reason, "{revision} {error}");
                    assert_eq!(error["data"]["resource"], RESOURCE, "{error}");
                    assert_eq!(error["data"]["scope"], "write", "{error}");
                    if with_provider {
                        assert_eq!(error["data"]["url"], PAGE, "{error}");
                    }
                    client.close().await.unwrap();
                    let statuses = watched.statuses.lock().unwrap();
                    assert!(
                        !statuses.contains(&401) && !statuses.contains(&403),
                        "{statuses:?}"
                    );
                }
                service.shutdown().await;
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_wants_a_sign_in_before_it_says_anything_is_told_to_its_client_with_the_reason()
 {
    for revision in Revision::NEGOTIATED {
        let guarded = Refusing::new(upstream_of(*revision), |_| {
            Some(refusal(401, "Bearer", "who are you"))
        });
        let http = Http::in_process(guarded).with_authorization(Waiting(Arc::default()));
        let service = Bridge::new(Upstream::url(http)).into_service();
        let watched = Refusing::new(service.clone(), |_| None);
        let raw = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
        let request = http::Request::post("/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from(raw.to_string())))
            .unwrap();
        let response = tower_service::Service::call(&mut watched.clone(), request).await;
        let response = response.unwrap();
        assert_eq!(response.status(), 200);
        let body = http_body_util::BodyExt::collect(response.into_body()).await;
        let body: Value = serde_json::from_slice(&body.unwrap().to_bytes()).unwrap();
        let error = &body["error"];
        assert_eq!(error["data"]["reason"], "sign-in-required", "{body}");
        assert_eq!(error["data"]["url"], PAGE, "{body}");
        assert!(error["message"].as_str().unwrap().contains(PAGE), "{body}");
        service.shutdown().await;
    }
}

/// A person that opens the page of a sign-in, or declines.
struct Person {
    opens: bool,
    signed_in: Arc<AtomicBool>,
    pages: Arc<Mutex<Vec<String>>>,
}

impl ClientHandlers<ClientContext<Latest>> for Person {
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        let mcp::ElicitRequestParams::Url(page) = params else {
            panic!("{params:?}");
        };
        self.pages.lock().unwrap().push(page.url.to_string());
        self.signed_in.store(self.opens, Ordering::SeqCst);
        Ok(mcp::ElicitResult::new(if self.opens {
            mcp::ElicitAction::Accept
        } else {
            mcp::ElicitAction::Decline
        }))
    }
}

#[tokio::test]
async fn a_client_with_url_elicitation_is_offered_the_page_and_its_call_goes_on_after_it() {
    let both = [Revision::V2025_11_25, Revision::LATEST];
    for (upstream, revision) in both.map(|one| both.map(|other| (one, other))).concat() {
        for (opens, can_open) in [(true, true), (false, true), (true, false)] {
            let signed_in = Arc::new(AtomicBool::new(false));
            let guarded = Refusing::new(upstream_of(upstream), |request| {
                let token = request.headers().get("authorization");
                let is_good = token.is_some_and(|it| it == "Bearer of-the-bridge");
                (is_call(request) && !is_good).then(|| refusal(401, "Bearer", ""))
            });
            let http = Http::in_process(guarded).with_authorization(Waiting(signed_in.clone()));
            let service = Bridge::new(Upstream::url(http)).into_service();
            let pages = Arc::default();
            let person = Person {
                opens,
                signed_in,
                pages: Arc::clone(&pages),
            };
            let able = if can_open {
                json!({ "elicitation": { "url": {} } })
            } else {
                json!({ "elicitation": { "form": {} } })
            };
            let client = Client::builder(&mcp_revisions::program!())
                .with_revisions(RevisionSet::none().with(revision))
                .with_handlers(person)
                .with_capabilities(&Json::from(able))
                .http(Http::in_process(service.clone()));
            if opens && can_open {
                let said = text(&client, "greet").await;
                assert!(said.starts_with("hello in"), "{upstream} {revision} {said}");
            } else {
                let error = refused(&client).await;
                assert_eq!(error["data"]["reason"], "sign-in-required", "{error}");
                assert_eq!(error["data"]["url"], PAGE, "{error}");
            }
            let offered = usize::from(can_open);
            assert_eq!(*pages.lock().unwrap(), vec![PAGE; offered]);
            client.close().await.unwrap();
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn an_error_that_a_server_writes_as_that_of_a_sign_in_offers_no_page() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let forges = |call: IncomingRequest, peer: Peer| async move {
            if call.method != "tools/call" {
                return greets(call, peer).await;
            }
            let needed = NeededSignIn {
                page: Some(PAGE.to_owned()),
                ..NeededSignIn::new("sign in")
            };
            Err(needed.to_error())
        };
        let upstream = mcp_revisions::http::Service::new(server(revision), forges);
        let service = Bridge::new(Upstream::service(upstream)).into_service();
        let pages = Arc::default();
        let person = Person {
            opens: true,
            signed_in: Arc::default(),
            pages: Arc::clone(&pages),
        };
        let client = Client::builder(&mcp_revisions::program!())
            .with_revisions(RevisionSet::none().with(revision))
            .with_handlers(person)
            .with_capabilities(&Json::from(json!({ "elicitation": { "url": {} } })))
            .http(Http::in_process(service.clone()));
        let error = refused(&client).await;
        assert_eq!(error["data"]["url"], PAGE, "{error}");
        assert!(pages.lock().unwrap().is_empty());
        client.close().await.unwrap();
        service.shutdown().await;
    }
}

#[tokio::test]
async fn no_token_of_a_client_reaches_the_server_be_it_checked_by_a_guard_or_not() {
    const TOKEN: &str = "t0ken-of-the-client";
    for has_guard in [false, true] {
        for revision in Revision::NEGOTIATED {
            let leaks = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&leaks);
            let watched = Refusing::new(upstream_of(Revision::V2025_06_18), move |request| {
                let shown = format!("{:?} {:?}", request.headers(), request.extensions());
                if shown.contains(TOKEN) || request.headers().contains_key("authorization") {
                    seen.lock().unwrap().push(shown);
                }
                None
            });
            let mut bridge = Bridge::new(Upstream::service(watched.clone()));
            if has_guard {
                let resource = ProtectedResource::new(RESOURCE, "https://auth.example").unwrap();
                let guard = ResourceGuard::new(resource, |token| async move {
                    if token != TOKEN {
                        return Err(TokenRefusal::Invalid("not known".to_owned()));
                    }
                    let claims =
                        json!({"iss": "https://auth.example", "sub": "ada", "aud": RESOURCE});
                    let claims = JsonObject::from_text(&claims.to_string()).unwrap();
                    Ok(TokenClaims::new(claims))
                });
                bridge = bridge.with_http_options(Options::new().with_guard(guard));
            }
            let service = bridge.into_service();
            let http = Http::in_process(service.clone()).with_authorization(TOKEN.to_owned());
            let one = client(*revision).http(http);
            assert!(text(&one, "greet").await.starts_with("hello in"));
            one.close().await.unwrap();
            assert!(leaks.lock().unwrap().is_empty(), "{leaks:?}");
            assert!(!watched.statuses.lock().unwrap().is_empty());
            // Without a token nothing reaches the server of a guarded bridge.
            let served = watched.statuses.lock().unwrap().len();
            let stranger = client(*revision).http(Http::in_process(service.clone()));
            let is_served = stranger.request("tools/list", None).await.is_ok();
            assert_eq!(is_served, !has_guard);
            if has_guard {
                assert_eq!(watched.statuses.lock().unwrap().len(), served);
            }
            service.shutdown().await;
        }
    }
}
