//! Both ends of HTTP, in process and in a time that passes by itself: responses to a client, requests to a server.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use mcp_revisions::http::{Options, Service};
use mcp_revisions::service::client::Http;
use mcp_revisions::service::{Client, Router};

use super::messages::{SampleKind, all};
use super::{Signature, Target, digest, kind_of};

pub(super) const RESPONSE: Target = Target {
    name: "response",
    corpus: response_corpus,
    run: run_response,
};

pub(super) const REQUEST: Target = Target {
    name: "request",
    corpus: request_corpus,
    run: run_request,
};

/// Longest time that a call may take, in a time that passes by itself: longer than each limit of the client.
const CALL_TIME: Duration = Duration::from_secs(3600);

/// Separates one response from the next.
const NEXT: &str = "\n--next--\n";

/// Responses of a server, in their order: a status, a content type, and the body in the lines below.
fn response_corpus() -> Vec<Vec<u8>> {
    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a"}]}}"#;
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let json = |text: &str| format!("200 application/json\n{text}");
    let stream = |text: &str| format!("200 text/event-stream\n{text}");
    let discovered = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"public"}}"#;
    let complete = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}"#;
    let accepted = "202 text/plain\n";
    [
        [json(initialized).as_str(), accepted, json(result).as_str()].join(NEXT),
        [stream(&format!("data: {initialized}\n\n")).as_str(), accepted, stream(&format!("event: message\nid: 7\nretry: 10\ndata: {progress}\n\ndata: {result}\n\n")).as_str()].join(NEXT),
        [stream(&format!("data: {initialized}\n\n")).as_str(), accepted, stream("id: 1\ndata:\n\n").as_str(), stream(&format!(": hello\r\ndata: {}\r\ndata: {}\r\n\r\n", &result[..30], &result[30..])).as_str()].join(NEXT),
        [json(discovered).as_str(), json(complete).as_str()].join(NEXT),
        ["404 text/html\n<p>no</p>", "405 text/plain\n", "401 application/json\n{\"error\":\"invalid_token\"}"].join(NEXT),
        ["500 text/plain\nno", "400 application/json\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Bad Request: No valid session ID provided\"}}"].join(NEXT),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect()
}

/// A server that gives its responses in their order, and 404 after the last one.
#[derive(Clone)]
struct Script {
    responses: Arc<[(u16, String, Bytes)]>,
    next: Arc<std::sync::atomic::AtomicUsize>,
}

impl tower_service::Service<Request<Full<Bytes>>> for Script {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let none = (404, "text/plain".to_owned(), Bytes::new());
        let (status, content_type, body) = self.responses.get(number).unwrap_or(&none).clone();
        let response = Response::builder()
            .status(status)
            .header("content-type", content_type);
        let response = response
            .header("mcp-session-id", "one")
            .body(Full::new(body));
        std::future::ready(Ok(response.unwrap_or_default()))
    }
}

fn run_response(input: &[u8]) -> Result<Signature, String> {
    let mut responses = Vec::new();
    let mut rest = input;
    loop {
        let at = rest
            .windows(NEXT.len())
            .position(|window| window == NEXT.as_bytes());
        let (one, after) = at.map_or((rest, None), |at| {
            (&rest[..at], Some(&rest[at + NEXT.len()..]))
        });
        let line = one
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(one.len());
        let head = String::from_utf8_lossy(&one[..line]).into_owned();
        let (status, content_type) = head.split_once(' ').unwrap_or((&head, ""));
        let status = status
            .parse()
            .ok()
            .filter(|status| (100..600).contains(status))
            .unwrap_or(200);
        let body = Bytes::copy_from_slice(one.get(line + 1..).unwrap_or_default());
        responses.push((status, content_type.to_owned(), body));
        match after {
            Some(after) if responses.len() < 12 => rest = after,
            _ => break,
        }
    }
    let script = Script {
        responses: responses.into(),
        next: Arc::default(),
    };
    in_its_own_time(async move {
        let program =
            mcp_revisions::latest::Implementation::new("fuzz", mcp_wire::args::Version("1"));
        let client = Client::builder(&program).http(Http::in_process(script));
        let called =
            tokio::time::timeout(CALL_TIME, client.call("t", &serde_json::json!({}))).await;
        let signature = match called {
            Err(_) => return Err(format!("a call takes more than {CALL_TIME:?}")),
            Ok(Ok(_)) => 1,
            Ok(Err(error)) => kind_of(&error.to_string()),
        };
        match tokio::time::timeout(CALL_TIME, client.close()).await {
            Err(_) => Err(format!("closing takes more than {CALL_TIME:?}")),
            Ok(_) => Ok(signature),
        }
    })
}

/// A method and headers, an empty line, and the body.
fn request_corpus() -> Vec<Vec<u8>> {
    let clients = all()
        .iter()
        .filter(|sample| sample.kind == SampleKind::Request);
    let posts = clients.map(|sample| {
        let id = sample.revision.protocol_version();
        let method = sample.method;
        format!("POST\nhost: localhost\ncontent-type: application/json\naccept: application/json, text/event-stream\nmcp-protocol-version: {id}\nmcp-method: {method}\n\n{}", sample.text)
    });
    let others = [
        "GET\nhost: localhost\naccept: text/event-stream\nmcp-session-id: none\nlast-event-id: 1-2\n\n",
        "DELETE\nhost: localhost\nmcp-session-id: none\n\n",
        "OPTIONS\nhost: localhost\norigin: https://example.com\n\n",
    ];
    posts
        .chain(others.map(str::to_owned))
        .map(String::into_bytes)
        .collect()
}

fn run_request(input: &[u8]) -> Result<Signature, String> {
    static ROUTER: LazyLock<Service> = LazyLock::new(|| {
        let router = Router::new().tool("t", "A tool.", || async { "done" });
        let server = router
            .build("fuzzed", "1")
            .expect("a name, a version and a tool");
        server.into_http_service(Options::default())
    });
    let end = input
        .windows(2)
        .position(|window| window == b"\n\n")
        .unwrap_or(input.len());
    let head = String::from_utf8_lossy(&input[..end]).into_owned();
    let body = Bytes::copy_from_slice(input.get(end + 2..).unwrap_or_default());
    let mut lines = head.lines();
    let mut request = Request::builder()
        .method(lines.next().unwrap_or("POST"))
        .uri("/mcp");
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        request = request.header(name, value);
    }
    let Ok(request) = request.body(Full::new(body)) else {
        return Ok(0);
    };
    in_its_own_time(async move {
        use tower_service::Service as _;
        let mut service = ROUTER.clone();
        let called = tokio::time::timeout(CALL_TIME, service.call(request)).await;
        let Ok(Ok(response)) = called else {
            return Err(format!("a request takes more than {CALL_TIME:?}"));
        };
        let status = response.status();
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|it| it == "text/event-stream");
        if status.is_server_error() {
            return Err(format!("status {status}"));
        }
        // A stream of changes has no end of its own.
        let body =
            tokio::time::timeout(Duration::from_secs(5), response.into_body().collect()).await;
        let Ok(Ok(body)) = body else {
            return Ok(digest(format!("{status} open").as_bytes()));
        };
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        if !is_stream && text.starts_with(['{', '[']) {
            super::expect_json(&text, "a server")?;
        }
        Ok(digest(
            format!("{status}{is_stream}{}", kind_of(&text)).as_bytes(),
        ))
    })
}

/// Runs a future to its end; its timers pass as soon as nothing else is left to do.
pub(super) fn in_its_own_time<T>(
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.map_err(|error| error.to_string())?.block_on(work)
}
