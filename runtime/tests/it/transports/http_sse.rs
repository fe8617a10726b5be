//! Servers that speak only HTTP+SSE, the transport of 2024-11-05, and those that seem to.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use bytes::Bytes;
use http_body::Frame;
use mcp_revisions::latest::{self as mcp};
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::service::Server;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Limits, Revision, RevisionSet, http};

use crate::support::Ada;
use crate::transports::{call, client, router};

/// What a server without a message endpoint at its URL answers to a POST.
type Refuses = fn() -> Response;

fn status(status: u16, body: &'static str) -> Response {
    Response::builder()
        .status(status)
        .body(Body::from(body))
        .unwrap()
}

/// A server of these revisions that speaks only HTTP+SSE; its URL, and what ends its sessions.
async fn serve(
    only: impl IntoIterator<Item = Revision>,
    refuses: Refuses,
    seen: Arc<Mutex<Vec<String>>>,
) -> (String, impl Fn()) {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1.0.0"));
    let server = Server::new(&info).with_revisions(only.into_iter().collect());
    let service = router()
        .build_with(server)
        .unwrap()
        .into_http_service(http::Options::new().with_http_sse("/sse"));
    let sessions = service.clone();
    let app = axum::Router::new()
        .route_service("/sse", service)
        .layer(from_fn(move |request: Request, next: Next| {
            let is_post = request.method() == "POST" && request.uri().query().is_none();
            let named = request.headers().contains_key("mcp-session-id");
            let what = format!("{} named={named} post={is_post}", request.method());
            seen.lock().unwrap().push(what);
            async move {
                match is_post {
                    true => refuses(),
                    false => next.run(request).await,
                }
            }
        }));
    (listen(app).await + "/sse", move || sessions.end_sessions())
}

async fn listen(app: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    url
}

fn handshake() -> impl Iterator<Item = Revision> {
    RevisionSet::all()
        .iter()
        .filter(|revision| revision.lifecycle() == Lifecycle::Handshake)
}

#[tokio::test]
async fn servers_that_speak_nothing_newer_are_called_alike() {
    for (revision, refuses) in handshake().zip([
        (|| status(405, "Method Not Allowed")) as Refuses,
        || status(404, "Cannot POST /sse"),
        || {
            status(
                400,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"sessionId?"}}"#,
            )
        },
        || status(415, ""),
    ]) {
        let seen = Arc::default();
        let (url, _) = serve([revision], refuses, Arc::clone(&seen)).await;
        let client = client().with_handlers(Ada).url(&url).unwrap();
        assert_eq!(
            call(&client, "hello").await,
            Ok("hello".to_owned()),
            "{revision}"
        );
        assert_eq!(client.server().unwrap().revision, revision);
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let counting = client.on_progress(move |progress| tell.lock().unwrap().push(progress.done));
        assert_eq!(call(&counting, "count").await, Ok("counted".to_owned()));
        assert_eq!(*told.lock().unwrap(), [1.0], "{revision}");
        let asks = revision
            .methods()
            .iter()
            .any(|method| method.name == "elicitation/create");
        if asks {
            assert_eq!(
                call(&client, "who").await,
                Ok("Ada".to_owned()),
                "{revision}"
            );
        }
        client.close().await.unwrap();
        // One stream, and no header of a transport that the server does not speak.
        let seen = seen.lock().unwrap();
        let gets = seen.iter().filter(|what| what.starts_with("GET"));
        assert_eq!(gets.count(), 1, "{seen:?}");
        assert!(
            seen.iter().all(|what| what.contains("named=false")),
            "{seen:?}"
        );
    }
}

#[tokio::test]
async fn a_call_fails_with_the_stream_that_it_is_to_be_answered_in_and_the_next_opens_another() {
    let refuses = || status(405, "");
    let (url, end) = serve([Revision::V2024_11_05], refuses, Arc::default()).await;
    let client = client().url(&url).unwrap();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let slow = crate::support::spawn({
        let client = client.clone();
        async move { call(&client, "slow").await }
    });
    // Nothing says when the call is at work: one that was not sent yet waits for the next session.
    for _ in 0..500 {
        if slow.is_finished() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        end();
    }
    assert!(
        slow.is_finished(),
        "it waits for an answer that cannot come"
    );
    let slow = slow.await.unwrap();
    assert!(slow.is_err(), "{slow:?}");
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    client.close().await.unwrap();
}

/// Events that are followed by silence, or by the end of the stream.
struct Events {
    text: Option<Bytes>,
    ends: bool,
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.text.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

/// A server by hand, whose GET is answered by these events.
async fn scripted(events: String, ends: bool, posts: Arc<AtomicUsize>) -> String {
    let handle = move |request: Request| {
        let (events, posts) = (events.clone(), Arc::clone(&posts));
        async move {
            if request.method() != "GET" {
                posts.fetch_add(1, Ordering::SeqCst);
                return status(405, "");
            }
            let response = Response::builder().header("content-type", "text/event-stream");
            let text = Some(Bytes::from(events));
            response.body(Body::new(Events { text, ends })).unwrap()
        }
    };
    listen(axum::Router::new().fallback(handle)).await
}

#[tokio::test]
async fn messages_are_sent_to_no_other_origin() {
    let elsewhere = Arc::new(AtomicUsize::new(0));
    let thief = scripted(String::new(), true, Arc::clone(&elsewhere)).await;
    let posts = Arc::new(AtomicUsize::new(0));
    let events = format!("event: endpoint\ndata: {thief}/messages\n\n");
    let url = scripted(events, false, Arc::clone(&posts)).await;
    let refused = call(&client().url(&url).unwrap(), "hello").await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(elsewhere.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_stream_of_something_else_is_no_server() {
    for events in [
        "",
        "data: {}\n\n",
        ": hello\n\n",
        "event: message\ndata: /messages\n\n",
    ] {
        let posts = Arc::new(AtomicUsize::new(0));
        let url = scripted(events.to_owned(), true, Arc::clone(&posts)).await;
        let http = Http::new(&url)
            .unwrap()
            .with_pause(Duration::from_millis(5));
        let refused = call(&client().http(http), "hello").await;
        assert!(refused.is_err(), "{refused:?}");
        // The probe, and `initialize` in each revision: nothing is sent twice.
        let steps = Revision::NEGOTIATED.len();
        assert_eq!(posts.load(Ordering::SeqCst), steps, "{events:?}");
    }
}

/// An open GET that says nothing costs a client of an older revision no time, if the answer to its `initialize` tells that the
/// server speaks none of them.
#[tokio::test]
async fn a_server_that_wants_no_handshake_is_not_taken_for_one_with_a_single_stream() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let server = Server::new(&mcp::Implementation::new(
        "example",
        mcp_revisions::args::Version("1"),
    ))
    .with_revisions(RevisionSet::per_request());
    let service = router().build_with(server).unwrap();
    let service = service.into_http_service(http::Options::new());
    let app = axum::Router::new().fallback_service(service).layer(from_fn(
        move |request: Request, next: Next| {
            seen.lock().unwrap().push(request.method().clone());
            next.run(request)
        },
    ));
    let url = listen(app).await;
    let client = client()
        .with_own_revision(Revision::V2025_11_25)
        .http(Http::new(&url).unwrap());
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|method| method == "POST"), "{asked:?}");
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_stream_and_no_call_waits_for_it() {
    let refuses = || status(405, "");
    let (url, _) = serve([Revision::V2024_11_05], refuses, Arc::default()).await;
    let limits = Limits {
        max_message_bytes: 300,
        ..Limits::default()
    };
    let client = client().with_limits(limits).url(&url).unwrap();
    let listed = tokio::time::timeout(Duration::from_secs(20), client.request("tools/list", None));
    let listed = listed.await.unwrap();
    assert!(listed.is_err(), "{listed:?}");
}

#[tokio::test]
async fn a_client_that_has_to_open_another_session_leaves_the_stream_of_the_one_before() {
    let service = router().build("example", "1").unwrap();
    let service = service.into_http_service(http::Options::new().with_http_sse("/sse"));
    let (sessions, forgets) = (service.clone(), Arc::new(AtomicBool::new(false)));
    let forgotten = Arc::clone(&forgets);
    let app = axum::Router::new()
        .route_service("/sse", service)
        .layer(from_fn(move |request: Request, next: Next| {
            let of_session = request.uri().query().is_some();
            let is_post = request.method() == "POST";
            let forgets = is_post && of_session && forgets.swap(false, Ordering::SeqCst);
            async move {
                match (is_post && !of_session, forgets) {
                    (true, _) => status(405, ""),
                    (false, true) => status(404, ""),
                    (false, false) => next.run(request).await,
                }
            }
        }));
    let client = client().url(&(listen(app).await + "/sse")).unwrap();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    forgotten.store(true, Ordering::SeqCst);
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let left = async {
        while sessions.counters().sessions > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let left = tokio::time::timeout(Duration::from_secs(20), left).await;
    left.expect("two streams are open");
    client.close().await.unwrap();
}
