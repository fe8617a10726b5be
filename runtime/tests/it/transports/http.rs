//! Servers over streamable HTTP, as they are and as they fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::sansio::client::Failure;
use mcp_revisions::service::client::{AuthProvider, ClientContext, Http, Pending};
use mcp_revisions::service::{Error, Router, Server};
use mcp_revisions::{Latest, Lifecycle, Revision, RevisionSet, http};
use serde_json::json;

use crate::support::Ada;
use crate::transports::{call, client, router};

/// What stands between the client and the server.
type Fault = Arc<dyn Fn(usize, &Request) -> Option<Response> + Send + Sync>;

/// A server on a port of its own; `fault` may answer in its place, told how many requests there were before.
async fn serve(only: impl IntoIterator<Item = Revision>, fault: Fault) -> String {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1.0.0"));
    let server = Server::new(&info).with_revisions(only.into_iter().collect());
    let service = router()
        .build_with(server)
        .unwrap()
        .into_http_service(http::Options::default());
    let seen = Arc::new(AtomicUsize::new(0));
    let app = axum::Router::new()
        .route_service("/mcp", service)
        .layer(from_fn(move |request: Request, next: Next| {
            let answer = fault(seen.fetch_add(1, Ordering::SeqCst), &request);
            async move {
                match answer {
                    Some(answer) => answer,
                    None => next.run(request).await,
                }
            }
        }));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    url
}

fn none() -> Fault {
    Arc::new(|_, _| None)
}

fn status(status: u16, headers: &[(&'static str, String)]) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Body::empty()).unwrap()
}

fn quick(url: &str) -> Http {
    Http::new(url).unwrap().with_pause(Duration::from_millis(5))
}

fn spoken_over_http() -> impl Iterator<Item = Revision> {
    RevisionSet::all().iter()
}

#[tokio::test]
async fn servers_of_every_revision_are_called_alike() {
    for revision in spoken_over_http() {
        let url = serve([revision], none()).await;
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
        assert_eq!(
            call(&counting, "count").await,
            Ok("counted".to_owned()),
            "{revision}"
        );
        assert_eq!(*told.lock().unwrap(), [1.0], "{revision}");
        if revision
            .methods()
            .iter()
            .any(|method| method.name == "elicitation/create")
        {
            assert_eq!(
                call(&client, "who").await,
                Ok("Ada".to_owned()),
                "{revision}"
            );
        }
        client.close().await.unwrap();
    }
}

struct Clumsy;

impl ClientHandlers<ClientContext<Latest>> for Clumsy {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        panic!("it slips")
    }
}

#[tokio::test]
async fn a_client_whose_handler_panics_goes_on() {
    for revision in spoken_over_http().filter(|revision| *revision >= Revision::V2025_06_18) {
        let url = serve([revision], none()).await;
        let client = client().with_handlers(Clumsy).url(&url).unwrap();
        let who = call(&client, "who").await;
        assert!(
            matches!(who, Err(Error::Rpc(_) | Error::RequestFailed(_))),
            "{revision}: {who:?}"
        );
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_without_room_is_asked_again() {
    let busy: Fault =
        Arc::new(|before, _| (before < 2).then(|| status(503, &[("retry-after", "0".to_owned())])));
    let url = serve(spoken_over_http(), busy).await;
    let client = client().http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));

    let never: Fault = Arc::new(|_, _| Some(status(503, &[])));
    let url = serve(spoken_over_http(), never).await;
    let client = crate::transports::client().http(quick(&url).with_max_attempts(2));
    assert!(matches!(
        call(&client, "hello").await,
        Err(Error::RequestFailed(_))
    ));
}

#[derive(Clone, Default)]
struct Tokens {
    challenges: Arc<Mutex<Vec<String>>>,
}

impl AuthProvider for Tokens {
    fn header(&self) -> Pending<'_, Option<String>> {
        let known = !self.challenges.lock().unwrap().is_empty();
        Box::pin(std::future::ready(known.then(|| "Bearer good".to_owned())))
    }

    fn challenged(&self, challenge: &str) -> Pending<'_, bool> {
        self.challenges.lock().unwrap().push(challenge.to_owned());
        Box::pin(std::future::ready(true))
    }
}

#[tokio::test]
async fn who_may_use_the_server_is_asked_for_and_told_of_challenges() {
    let guard = || -> Fault {
        Arc::new(|_, request| {
            let good = request
                .headers()
                .get("authorization")
                .is_some_and(|it| it == "Bearer good");
            (!good).then(|| {
                status(
                    401,
                    &[("www-authenticate", "Bearer realm=\"x\"".to_owned())],
                )
            })
        })
    };
    let url = serve(spoken_over_http(), guard()).await;
    let tokens = Tokens::default();
    let client = client().http(quick(&url).with_authorization(tokens.clone()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(*tokens.challenges.lock().unwrap(), ["Bearer realm=\"x\""]);

    let client =
        crate::transports::client().http(quick(&url).with_authorization("good".to_owned()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    // Nobody to ask: the answer is that there is none, and not a wait.
    let client = crate::transports::client().http(quick(&url));
    let refused = tokio::time::timeout(Duration::from_secs(20), call(&client, "hello"))
        .await
        .unwrap();
    assert!(
        matches!(refused, Err(Error::RequestFailed(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_request_is_sent_on_within_the_server_and_nowhere_else() {
    let there = serve(spoken_over_http(), none()).await;
    let within: Fault = Arc::new(|_, request| {
        (request.uri().query() != Some("moved"))
            .then(|| status(307, &[("location", "/mcp?moved".to_owned())]))
    });
    let url = serve(spoken_over_http(), within).await;
    assert_eq!(
        call(&client().http(quick(&url)), "hello").await,
        Ok("hello".to_owned())
    );
    let away: Fault = Arc::new(move |_, _| Some(status(307, &[("location", there.clone())])));
    let url = serve(spoken_over_http(), away).await;
    assert!(matches!(
        call(&client().http(quick(&url)), "hello").await,
        Err(Error::RequestFailed(_))
    ));
    let round: Fault = Arc::new(|_, _| Some(status(307, &[("location", "/mcp".to_owned())])));
    let url = serve(spoken_over_http(), round).await;
    assert!(matches!(
        call(&client().http(quick(&url)), "hello").await,
        Err(Error::RequestFailed(_))
    ));
}

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
                        // It takes its time, and says nothing of it but that there is more.
                        if asked.fetch_add(1, Ordering::SeqCst) < 7 {
                            return stream("id: 7\nretry: 5\ndata:\n\n".to_owned());
                        }
                        let body = kept.lock().unwrap().take().unwrap();
                        return stream(format!(
                            "data: {}\n\n",
                            String::from_utf8(body.to_vec()).unwrap()
                        ));
                    }
                    let is_call = request
                        .headers()
                        .get("mcp-method")
                        .is_some_and(|method| method == "tools/call");
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
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let client = client().http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(asked.load(Ordering::SeqCst), 8);
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
    let breaks: Fault = Arc::new(move |_, request| {
        let again = request.headers().contains_key("last-event-id");
        (again || is_call(request)).then(|| {
            count.fetch_add(1, Ordering::SeqCst);
            stream_of(Body::from(format!("id: 1\nretry: 0\ndata: {told}\n\n")))
        })
    });
    let url = serve([Revision::LATEST], breaks).await;
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

/// It would be missing, and nobody would know why the server refuses.
#[tokio::test]
async fn a_header_that_cannot_be_sent_is_an_error_that_keeps_its_value_to_itself() {
    let url = serve([Revision::LATEST], none()).await;
    let token = "hush\n".to_owned();
    for (http, name) in [
        (quick(&url).with_header("X-Token", token.clone()), "x-token"),
        (
            quick(&url).with_authorization(token.clone()),
            "authorization",
        ),
        (quick(&url).with_header("X Token", "1"), "X Token"),
    ] {
        let failed = call(&client().http(http), "hello").await;
        let why = failed.unwrap_err().to_string();
        assert!(why.contains(name) && !why.contains("hush"), "{why}");
    }
}

#[tokio::test]
async fn an_answer_that_never_begins_ends_its_call() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let http = quick(&url).with_answer_time(Duration::from_millis(50));
    let client = client().http(http).within(None);
    let failed = tokio::time::timeout(Duration::from_secs(20), call(&client, "hello"));
    assert!(matches!(
        failed.await.unwrap(),
        Err(Error::RequestFailed(_))
    ));
}

/// What is printed into a log says where it goes, and keeps what headers hold to itself.
#[test]
fn a_client_over_http_prints_its_url_and_no_secret() {
    let http = quick("http://127.0.0.1:1/mcp").with_header("Authorization", "Bearer hush");
    let printed = format!("{http:?}");
    assert!(printed.contains("127.0.0.1:1/mcp"), "{printed}");
    assert!(!printed.contains("hush"), "{printed}");
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
        ("no url at all", "expected http:// or https://"),
        ("ftp://x/", "expected http:// or https://"),
    ] {
        assert!(
            Http::new(url).unwrap_err().to_string().contains(why),
            "{url}"
        );
    }
}

#[tokio::test]
async fn parameters_that_headers_repeat_are_repeated() {
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let schema = JsonObject::try_from(Json::from(schema)).unwrap();
    let tool = mcp::Tool::new("where", schema);
    let service = Router::new()
        .tool_of(tool, |arguments: serde_json::Value| async move {
            arguments["region"].to_string()
        })
        .build("example", "1")
        .unwrap()
        .into_http_service(http::Options::default());
    let app = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let client = client().url(&url).unwrap();
    // The server refuses a call without the header: the client learns of it, and calls again.
    for region in ["north", "Süd"] {
        use mcp::CallServer;
        let arguments = Json::from(json!({"region": region}));
        let arguments = JsonObject::try_from(arguments).unwrap();
        let params = mcp::CallToolRequestParams::new("where").with_arguments(arguments);
        let result = client.call_tool(params).await.unwrap();
        assert_eq!(result.content.len(), 1);
    }
}

#[tokio::test]
async fn a_page_that_is_not_there_is_told_at_once() {
    for code in [400, 404, 405, 500] {
        let nowhere: Fault = Arc::new(move |_, _| Some(status(code, &[])));
        let url = serve(spoken_over_http(), nowhere).await;
        let client = client().http(quick(&url).with_max_attempts(2));
        let patience = Duration::from_secs(20);
        let answer = tokio::time::timeout(patience, call(&client, "hello")).await;
        let answer = answer.unwrap();
        assert!(
            matches!(answer, Err(Error::RequestFailed(_))),
            "{code}: {answer:?}"
        );
    }
}

/// Says when it is dropped.
struct Dropped(Arc<tokio::sync::Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for revision in spoken_over_http() {
        let (begun, ended) = (Arc::<tokio::sync::Notify>::default(), Arc::default());
        let (begin, end) = (Arc::clone(&begun), Arc::clone(&ended));
        let sleep = move || {
            begin.notify_one();
            let dropped = Dropped(Arc::clone(&end));
            async move {
                let _dropped = dropped;
                std::future::pending::<()>().await;
            }
        };
        let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
        let server = Server::new(&info).with_revisions([revision].into_iter().collect());
        let service = Router::new()
            .tool("sleep", "Sleeps.", sleep)
            .build_with(server)
            .unwrap()
            .into_http_service(http::Options::default());
        let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(http::serve(listener, service));
        let client = client().url(&url).unwrap();
        let patience = Duration::from_secs(20);
        let kept = client.clone();
        let waits = tokio::spawn(async move { call(&kept, "sleep").await.map(|_| ()) });
        tokio::time::timeout(patience, begun.notified())
            .await
            .unwrap();
        // The client stays: only what waits for the call is gone.
        waits.abort();
        tokio::time::timeout(patience, ended.notified())
            .await
            .unwrap();
        client.close().await.unwrap();
    }
}
