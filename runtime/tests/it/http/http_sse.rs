//! Clients of HTTP+SSE, the transport of 2024-11-05, beside those of streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use mcp_revisions::Limits;
use mcp_revisions::http::{Body, Options, Principal, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::{Post, VERSIONS, body, call, initialize, message, server};
use crate::support::handlers;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

fn options() -> Options {
    Options::new().with_http_sse("/sse")
}

fn service() -> Service {
    Service::with_options(server(), handlers::handle, options())
}

/// A request for a URI of somebody, without a header of its own.
fn request(method: Method, uri: &str, who: Option<&Principal>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(who) = who {
        request = request.extension(who.clone());
    }
    request.body(Full::default()).unwrap()
}

async fn sent(service: &Service, request: Request<Full<Bytes>>) -> Response<Body> {
    service.clone().oneshot(request).await.unwrap()
}

/// A client: its stream, and where it sends its messages.
struct Client<'s> {
    service: &'s Service,
    stream: Body,
    read: String,
    endpoint: String,
    who: Option<Principal>,
}

impl<'s> Client<'s> {
    async fn open(service: &'s Service) -> Self {
        Self::open_as(service, None).await
    }

    async fn open_as(service: &'s Service, who: Option<Principal>) -> Self {
        let response = sent(service, request(Method::GET, "/sse", who.as_ref())).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut client = Self {
            service,
            stream: response.into_body(),
            read: String::new(),
            endpoint: String::new(),
            who,
        };
        let (kind, endpoint) = client.event().await.unwrap();
        assert_eq!(kind, "endpoint");
        client.endpoint = endpoint;
        client
    }

    /// The next event; none once the stream has ended.
    async fn event(&mut self) -> Option<(String, String)> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap_or_default().to_owned()
                };
                let found = (field("event: "), field("data: "));
                assert_eq!(field("id: "), "", "nothing can be had again");
                self.read = rest.to_owned();
                return Some(found);
            }
            let frame = tokio::time::timeout(LONG, self.stream.frame()).await;
            let data = frame.expect("nothing comes")?.unwrap().into_data().unwrap();
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The next message.
    async fn next(&mut self) -> Value {
        let (kind, data) = self.event().await.expect("the stream has ended");
        assert_eq!(kind, "message");
        serde_json::from_str(&data).unwrap()
    }

    /// What a message is answered with by its POST.
    async fn post(&self, message: Post) -> Response<Body> {
        // Such clients accept whatever comes.
        let mut request = message.without("accept").request(Method::POST);
        *request.uri_mut() = self.endpoint.parse().unwrap();
        request.extensions_mut().extend(
            self.who
                .clone()
                .map(|who| {
                    let mut extensions = http::Extensions::new();
                    extensions.insert(who);
                    extensions
                })
                .unwrap_or_default(),
        );
        sent(self.service, request).await
    }

    /// Sends a message that is taken.
    async fn send(&self, message: Post) {
        let response = self.post(message).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(body(response).await, "");
    }

    async fn handshake(&mut self, version: &str) {
        self.send(initialize(version)).await;
        assert_eq!(self.next().await["result"]["protocolVersion"], version);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(Post::of(&initialized)).await;
    }
}

fn add() -> Post {
    Post::of(&call("add", json!({"a": 1, "b": 2})))
}

#[tokio::test]
async fn every_handshake_revision_is_answered_in_the_one_stream() {
    let service = service();
    for version in VERSIONS {
        let mut client = Client::open(&service).await;
        let id = client.endpoint.strip_prefix("/sse?sessionId=").unwrap();
        assert!(id.len() >= 32, "{id}");
        client.handshake(version).await;
        client.send(add()).await;
        assert_eq!(client.next().await["result"]["content"][0]["text"], "3");
        // What is said on the way comes before the answer, in the same stream.
        let mut count = call("count", json!({"to": 1}));
        count["params"]["_meta"] = json!({"progressToken": "p"});
        client.send(Post::of(&count)).await;
        let mut told = Vec::new();
        while told.last() != Some(&Value::Null) {
            told.push(client.next().await["method"].clone());
        }
        assert!(told.contains(&json!("notifications/progress")), "{told:?}");
    }
}

#[tokio::test]
async fn it_is_off_unless_it_is_turned_on_and_only_at_its_path() {
    let off = Service::new(server(), handlers::handle);
    let opened = sent(&off, request(Method::GET, "/sse", None)).await;
    assert_eq!(opened.status(), StatusCode::BAD_REQUEST);
    let on = service();
    for path in ["/mcp", "/", "/sse/", "/other/sse"] {
        let opened = sent(&on, request(Method::GET, path, None)).await;
        assert_eq!(opened.status(), StatusCode::BAD_REQUEST, "{path}");
    }
    let stateless = Service::with_options(server(), handlers::handle, options().without_sessions());
    let opened = sent(&stateless, request(Method::GET, "/sse", None)).await;
    assert_eq!(opened.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn where_a_prefix_was_taken_off_the_client_is_sent_to_the_whole_path() {
    let options = Options::new().with_http_sse("tools/sse");
    let service = Service::with_options(server(), handlers::handle, options);
    let mut client = Client::open(&service).await;
    let whole = client.endpoint.clone();
    assert!(whole.starts_with("/tools/sse?sessionId="), "{whole}");
    client.handshake("2024-11-05").await;
    client.endpoint = whole.replace("/tools", "");
    client.send(add()).await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "3");
}

#[tokio::test]
async fn streamable_http_is_spoken_at_the_same_path() {
    let service = service();
    let at_sse = |post: Post, method| {
        let mut request = post.request(method);
        *request.uri_mut() = "/sse".parse().unwrap();
        request
    };
    let opened = sent(&service, at_sse(initialize("2025-06-18"), Method::POST)).await;
    let id = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        message(opened).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    let named = |post: Post| post.with("Mcp-Session-Id", &id);
    let answer = sent(&service, at_sse(named(add()), Method::POST)).await;
    assert_eq!(message(answer).await["result"]["content"][0]["text"], "3");
    // Its stream is that of its session, and its id is of no use in a URI.
    let stream = sent(&service, at_sse(named(add()), Method::GET)).await;
    assert_eq!(stream.status(), StatusCode::OK);
    let mut other = Client::open(&service).await;
    other.endpoint = format!("/sse?sessionId={id}");
    assert_eq!(other.post(add()).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_no_message_is_refused_at_once_and_a_revision_without_sessions_in_the_stream() {
    let service = service();
    let mut client = Client::open(&service).await;
    client.handshake("2025-06-18").await;
    let mut broken = add();
    broken.body = "{".to_owned();
    let refused = client.post(broken).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(message(refused).await["error"]["code"], -32700);
    // Who tries a newer revision first hears where it looks for answers that there is none.
    let per_request = Post::per_request("server/discover", json!({}));
    client.send(per_request).await;
    let refused = client.next().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    client.send(add()).await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "3");
}

/// Asks for the roots of whoever calls, and says whose session it is.
async fn curious(_: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    let roots = peer.ask("roots/list", None).await?;
    let said = format!("{} {}", peer.session_id().unwrap_or("-"), roots.text());
    Ok(Json::from(
        json!({"content": [{"type": "text", "text": said}]}),
    ))
}

#[tokio::test]
async fn a_server_asks_in_the_stream_and_is_answered_by_a_post() {
    let service = Service::with_options(server(), curious, options());
    let mut client = Client::open(&service).await;
    let mut hello = initialize("2024-11-05");
    hello.body = hello
        .body
        .replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#);
    client.send(hello).await;
    client.next().await;
    client.send(add()).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}});
    client.send(Post::of(&answer)).await;
    let text = client.next().await["result"]["content"][0]["text"].take();
    let (session, roots) = text.as_str().unwrap().split_once(' ').unwrap();
    assert!(client.endpoint.ends_with(session), "{session}");
    assert_eq!(roots, r#"{"roots":[]}"#);
}

#[tokio::test]
async fn a_session_ends_with_its_stream_and_so_does_what_is_at_work_in_it() {
    let at_work = Arc::new(AtomicBool::new(false));
    struct Working(Arc<AtomicBool>);
    impl Drop for Working {
        fn drop(&mut self) {
            self.0.store(false, Ordering::SeqCst);
        }
    }
    let working = Arc::clone(&at_work);
    let stuck = move |_: IncomingRequest, _: Peer| {
        working.store(true, Ordering::SeqCst);
        let working = Working(Arc::clone(&working));
        async move {
            std::future::pending::<()>().await;
            drop(working);
            Ok(Json::null())
        }
    };
    let service = Service::with_options(server(), stuck, options());
    let mut client = Client::open(&service).await;
    client.handshake("2024-11-05").await;
    client.send(add()).await;
    let settles_at = async |wanted: bool| {
        for _ in 0..400 {
            if at_work.load(Ordering::SeqCst) == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("what is at work stays so");
    };
    settles_at(true).await;
    // The client hangs up.
    let other = Client::open(&service).await;
    let endpoint = client.endpoint.clone();
    drop(client);
    settles_at(false).await;
    let late = Client { endpoint, ..other };
    assert_eq!(late.post(add()).await.status(), StatusCode::NOT_FOUND);
    // The server ends it.
    let mut client = Client::open(&service).await;
    service.end_sessions();
    assert_eq!(client.event().await, None);
    assert_eq!(client.post(add()).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn only_its_owner_speaks_in_a_session() {
    let service = service();
    let [ada, eve] = ["ada", "eve"].map(|name| Principal(name.to_owned()));
    let mut client = Client::open_as(&service, Some(ada.clone())).await;
    client.handshake("2024-11-05").await;
    for who in [Some(eve), None] {
        client.who = who;
        assert_eq!(client.post(add()).await.status(), StatusCode::NOT_FOUND);
    }
    client.who = Some(ada);
    client.send(add()).await;
    assert_eq!(client.next().await["result"]["content"][0]["text"], "3");
    client.endpoint = "/sse?sessionId=guess".to_owned();
    assert_eq!(client.post(add()).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_page_of_another_origin_opens_no_session() {
    let service = service();
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let mut get = request(Method::GET, "/sse", None);
        get.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(sent(&service, get).await.status(), StatusCode::FORBIDDEN);
        let client = Client::open(&service).await;
        let post = client.post(add().with(name, value)).await;
        assert_eq!(post.status(), StatusCode::FORBIDDEN);
    }
    let mut get = request(Method::GET, "/sse", None);
    get.headers_mut()
        .insert("accept", "application/json".parse().unwrap());
    assert_eq!(
        sent(&service, get).await.status(),
        StatusCode::NOT_ACCEPTABLE
    );
    service.close();
    let late = sent(&service, request(Method::GET, "/sse", None)).await;
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn who_does_not_read_its_stream_is_heard_no_longer_and_others_are() {
    let long = |_: IncomingRequest, _: Peer| async move {
        let text = json!({"type": "text", "text": "x".repeat(100_000)});
        Ok(Json::from(json!({"content": [text]})))
    };
    let options = options().with_write_timeout(Duration::from_millis(50));
    let service = Service::with_options(server(), long, options);
    let mut client = Client::open(&service).await;
    client.handshake("2024-11-05").await;
    let other = Client::open(&service).await;
    // An answer by the server itself and one by a handler: neither is kept without end.
    let mut taken = 0;
    while client.post(add()).await.status() == StatusCode::ACCEPTED {
        taken += 1;
        assert!(taken < 1_000, "it is heard without end");
        tokio::task::yield_now().await;
    }
    let ping = || Post::of(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    assert_eq!(
        client.post(ping()).await.status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
    other.send(initialize("2024-11-05")).await;
    // Once it reads, it gets every answer, and is heard again.
    for _ in 0..taken {
        assert_eq!(client.next().await["id"], 1);
    }
    client.send(ping()).await;
    assert_eq!(client.next().await["id"], 2);
}

#[tokio::test]
async fn sessions_are_counted_with_those_of_streamable_http_by_number_and_by_bytes() {
    let limits = Limits {
        max_sessions: 2,
        max_session_bytes: 3_000,
        ..Limits::default()
    };
    let service = Service::with_options(server().with_limits(limits), handlers::handle, options());
    let says = |bytes: usize| {
        let mut hello = initialize("2024-11-05");
        let name = format!(r#""name":"{}""#, "x".repeat(bytes));
        hello.body = hello.body.replace(r#""name":"t""#, &name);
        hello
    };
    let mut one = Client::open(&service).await;
    one.send(says(500)).await;
    one.next().await;
    let mut two = Client::open(&service).await;
    // Both are in use: there is no room for a third.
    let third = sent(&service, request(Method::GET, "/sse", None)).await;
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    // Nor is there for what the second says of itself: it ends.
    let refused = two.post(says(4_000)).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    two.event().await;
    assert_eq!(two.event().await, None);
    assert_eq!(two.post(add()).await.status(), StatusCode::NOT_FOUND);
    Client::open(&service).await;
    one.send(add()).await;
    assert_eq!(one.next().await["result"]["content"][0]["text"], "3");
}
