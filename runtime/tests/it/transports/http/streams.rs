//! Sessions and streams of a client over HTTP: gone, broken, silent, or without end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp_revisions::sansio::client::Failure;
use mcp_revisions::service::Error;
use mcp_revisions::service::client::{
    AuthFuture, AuthProvider, AuthRefusal, Credentials, Http, HttpRequest, RefusalFate,
};
use mcp_revisions::{Lifecycle, Revision, http};
use serde_json::json;

use crate::transports::{call, client, router};

use super::{Fault, quick, serve, spoken_over_http, status};

#[tokio::test]
async fn a_session_that_is_gone_is_opened_anew() {
    for revision in
        spoken_over_http().filter(|revision| revision.lifecycle() == Lifecycle::Handshake)
    {
        let gone = Arc::new(Mutex::new(None::<String>));
        let lost = Arc::clone(&gone);
        let forgets: Fault = Arc::new(move |_, request| {
            let id = request
                .headers()
                .get("mcp-session-id")?
                .to_str()
                .ok()?
                .to_owned();
            (lost.lock().unwrap().as_ref() == Some(&id)).then(|| status(404, &[]))
        });
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let ids = Arc::clone(&sessions);
        let watch: Fault = Arc::new(move |before, request| {
            if let Some(id) = request.headers().get("mcp-session-id") {
                ids.lock().unwrap().push(id.to_str().unwrap().to_owned());
            }
            forgets(before, request)
        });
        let url = serve([revision], watch).await;
        let client = client().http(quick(&url));
        assert_eq!(
            call(&client, "hello").await,
            Ok("hello".to_owned()),
            "{revision}"
        );
        let first = sessions.lock().unwrap().first().cloned();
        *gone.lock().unwrap() = first;
        assert_eq!(
            call(&client, "hello").await,
            Ok("hello".to_owned()),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn the_stream_of_a_session_is_asked_for_with_headers_of_its_own() {
    let (ask, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let watch: Fault = Arc::new(move |_, request| {
        if request.method() == "GET" {
            ask.send(request.headers().clone()).unwrap();
        }
        None
    });
    let url = serve([Revision::V2025_11_25], watch).await;
    let client = client().http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let headers = tokio::time::timeout(Duration::from_secs(20), asked.recv()).await;
    let headers = headers.expect("no stream is asked for").unwrap();
    assert_eq!(headers.get("content-type"), None);
    let accept: Vec<_> = headers.get_all("accept").iter().collect();
    assert_eq!(accept, ["text/event-stream"]);
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_again() {
    // Any answer to a tool's call is put off: the stream ends after an id, and a GET with that id has it.
    let kept = Arc::new(Mutex::new(None::<axum::body::Bytes>));
    let asked = Arc::new(AtomicUsize::new(0));
    let service = router()
        .build("example", "1")
        .unwrap()
        .into_http_service(http::Options::default());
    let app = axum::Router::new()
        .route_service("/mcp", service)
        .layer(from_fn({
            let asked = Arc::clone(&asked);
            move |request: Request, next: Next| {
                let (kept, asked) = (Arc::clone(&kept), Arc::clone(&asked));
                async move {
                    let stream = |text: String| {
                        Response::builder()
                            .header("content-type", "text/event-stream")
                            .body(Body::from(text))
                            .unwrap()
                    };
                    if request
                        .headers()
                        .get("last-event-id")
                        .is_some_and(|id| id == "7")
                    {
                        // It takes its time, and says nothing of it but that there is more; a proxy loses it in between.
                        let before = asked.fetch_add(1, Ordering::SeqCst);
                        if before == 2 {
                            return status(502, &[]);
                        }
                        if before < 7 {
                            return stream("id: 7\nretry: 5\ndata:\n\n".to_owned());
                        }
                        let body = kept.lock().unwrap().take().unwrap();
                        return stream(format!(
                            "data: {}\n\n",
                            String::from_utf8(body.to_vec()).unwrap()
                        ));
                    }
                    let (head, body) = request.into_parts();
                    let body = to_bytes(body, 1 << 20).await.unwrap();
                    let is_call = String::from_utf8_lossy(&body).contains("tools/call");
                    let request = Request::from_parts(head, Body::from(body));
                    let response = next.run(request).await;
                    if !is_call {
                        return response;
                    }
                    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
                    *kept.lock().unwrap() = Some(body);
                    stream("id: 7\nretry: 5\ndata:\n\n".to_owned())
                }
            }
        }));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let handshake = [Revision::V2025_11_25].into_iter().collect();
    let client = client().with_revisions(handshake).http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(asked.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn a_stream_that_breaks_is_not_taken_up_again_in_a_revision_without_resumption() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let breaks: Fault = Arc::new(move |_, request| {
        let again = request.headers().contains_key("last-event-id");
        count.fetch_add(usize::from(again), Ordering::SeqCst);
        let event = || stream_of(Body::from("id: 7\nretry: 5\ndata:\n\n"));
        is_call(request).then(event)
    });
    let url = serve([Revision::V2026_07_28], breaks).await;
    let client = client().http(quick(&url));
    let failed = call(&client, "hello").await;
    assert!(matches!(failed, Err(Error::RequestFailed(_))), "{failed:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// The body of a stream that has no end: lines that never end, or events, and how many bytes of it were asked for.
struct Endless {
    part: axum::body::Bytes,
    sent: Arc<AtomicUsize>,
}

impl http_body::Body for Endless {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        let sent = self.sent.fetch_add(self.part.len(), Ordering::SeqCst);
        // It has an end after all: a test must not run out of memory.
        let frame = (sent < 256 << 20).then(|| Ok(http_body::Frame::data(self.part.clone())));
        std::task::Poll::Ready(frame)
    }
}

fn stream_of(body: Body) -> Response {
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(body)
        .unwrap()
}

fn is_call(request: &Request) -> bool {
    let method = request.headers().get("mcp-method");
    method.is_some_and(|method| method == "tools/call")
}

#[tokio::test]
async fn an_event_without_end_ends_its_call_and_is_read_no_further() {
    let line = format!("data: {}", "x".repeat(64 << 10));
    for part in [line, "x".repeat(64 << 10), "data: x\n".repeat(8 << 10)] {
        let sent = Arc::new(AtomicUsize::new(0));
        let (count, part) = (Arc::clone(&sent), axum::body::Bytes::from(part));
        let endless: Fault = Arc::new(move |_, request| {
            is_call(request).then(|| {
                let (part, sent) = (part.clone(), Arc::clone(&count));
                stream_of(Body::new(Endless { part, sent }))
            })
        });
        let url = serve([Revision::LATEST], endless).await;
        let limits = mcp_revisions::Limits {
            max_message_bytes: 1 << 20,
            ..Default::default()
        };
        let client = client().with_limits(limits).http(quick(&url));
        let failed = call(&client, "hello").await;
        assert!(matches!(failed, Err(Error::RequestFailed(_))), "{failed:?}");
        // Sockets hold some of it.
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < 64 << 20, "{sent} bytes");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_at_once_is_not_asked_for_again_at_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
    let posts = AtomicUsize::new(0);
    let breaks: Fault = Arc::new(move |_, request| {
        let again = request.headers().contains_key("last-event-id");
        // The first POST of a session says that it is open; the next one is the call.
        let is_post =
            request.method() == "POST" && request.headers().contains_key("mcp-session-id");
        let is_call = is_post && posts.fetch_add(1, Ordering::SeqCst) > 0;
        (again || is_call).then(|| {
            count.fetch_add(1, Ordering::SeqCst);
            stream_of(Body::from(format!("id: 1\nretry: 0\ndata: {told}\n\n")))
        })
    });
    let url = serve([Revision::V2025_11_25], breaks).await;
    let client = client().http(quick(&url));
    let late = call(&client.within(Duration::from_millis(500)), "hello").await;
    assert_eq!(late, Err(Error::Timeout(Duration::from_millis(500))));
    let asked = asked.load(Ordering::SeqCst);
    assert!((1..=10).contains(&asked), "{asked} times");
}

#[tokio::test]
async fn the_stream_of_a_session_is_asked_for_before_its_first_call() {
    for _ in 0..40 {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&seen);
        let watch: Fault = Arc::new(move |_, request| {
            if request.headers().contains_key("mcp-session-id") {
                note.lock().unwrap().push(request.method().clone());
            }
            None
        });
        let url = serve([Revision::V2025_11_25], watch).await;
        let client = client().http(quick(&url));
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen[..3], ["POST", "GET", "POST"], "{seen:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_its_call_with_the_reason() {
    let long: Fault = Arc::new(|_, request| {
        is_call(request).then(|| Response::new(Body::from(vec![b' '; 2 << 20])))
    });
    let url = serve([Revision::LATEST], long).await;
    let limits = mcp_revisions::Limits {
        max_message_bytes: 1 << 20,
        ..Default::default()
    };
    let client = client().with_limits(limits).http(quick(&url));
    let failed = call(&client, "hello").await.unwrap_err().to_string();
    assert!(failed.contains("longer than 1048576 bytes"), "{failed}");
}

#[tokio::test]
async fn an_answer_that_never_begins_ends_its_call() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let http = quick(&url).with_answer_timeout(Duration::from_millis(50));
    let client = client().http(http).within(None);
    let failed = tokio::time::timeout(Duration::from_secs(20), call(&client, "hello"));
    assert!(matches!(
        failed.await.unwrap(),
        Err(Error::RequestFailed(_))
    ));
}

#[tokio::test]
async fn a_server_that_is_not_there_or_keeps_silent_is_given_up() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let client = client().http(quick(&url));
    let late = call(&client.within(Duration::from_millis(200)), "hello").await;
    assert_eq!(late, Err(Error::Timeout(Duration::from_millis(200))));
    drop((client, listener));
    let client = crate::transports::client().http(quick(&url).with_max_attempts(2));
    let failed = call(&client, "hello").await;
    assert!(
        matches!(&failed, Err(Error::RequestFailed(Failure::Transport(why))) if why.contains("connect")),
        "{failed:?}"
    );
    for (url, why) in [
        ("no url at all", "expected http://, https:// or unix:"),
        ("ftp://x/", "expected http://, https:// or unix:"),
    ] {
        assert!(
            Http::new(url).unwrap_err().to_string().contains(why),
            "{url}"
        );
    }
}

#[tokio::test]
async fn the_stream_of_a_session_is_asked_for_until_the_server_has_it_again() {
    let (ask, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let gets = AtomicUsize::new(0);
    let away: Fault = Arc::new(move |_, request| {
        if request.method() != "GET" {
            return None;
        }
        let before = gets.fetch_add(1, Ordering::SeqCst);
        ask.send(before).unwrap();
        match before {
            0 => Some(stream_of(Body::from("id: 1\nretry: 5\ndata:\n\n"))),
            _ => [502, 409, 408, 500]
                .get(before - 1)
                .map(|code| status(*code, &[])),
        }
    });
    let url = serve([Revision::V2025_11_25], away).await;
    let client = client().http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let again = async { while asked.recv().await != Some(5) {} };
    let again = tokio::time::timeout(Duration::from_secs(20), again).await;
    again.expect("the stream is not asked for again");
}

/// Notes whether a call waits for each request that is refused.
#[derive(Clone)]
struct Noting(tokio::sync::mpsc::UnboundedSender<bool>);

impl AuthProvider for Noting {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        Box::pin(std::future::ready(Ok(Credentials::bearer("token"))))
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        self.0.send(refusal.is_unattended).unwrap();
        Box::pin(std::future::ready(RefusalFate::Retry))
    }
}

#[tokio::test]
async fn a_provider_is_told_that_no_call_waits_for_a_stream_that_is_asked_for_again() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let gets = AtomicUsize::new(0);
    let guarded: Fault = Arc::new(move |_, request| {
        let is_get = request.method() == "GET";
        let before = is_get.then(|| gets.fetch_add(1, Ordering::SeqCst))?;
        match before {
            0 | 2 => Some(status(401, &[])),
            1 => Some(stream_of(Body::from("id: 1\nretry: 5\ndata:\n\n"))),
            _ => None,
        }
    });
    let url = serve([Revision::V2025_11_25], guarded).await;
    let client = client().http(quick(&url).with_authorization(Noting(tell)));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let refused = async { [told.recv().await, told.recv().await] };
    let refused = tokio::time::timeout(Duration::from_secs(20), refused).await;
    assert_eq!(refused.unwrap(), [Some(false), Some(true)]);
}
