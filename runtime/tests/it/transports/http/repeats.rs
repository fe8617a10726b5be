//! Messages that a server or a proxy refuses: which are sent again, what they carry, and what is told of the refusal.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::{HeaderMap, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use mcp_revisions::latest::CallServer as _;
use mcp_revisions::latest::{self as mcp};
use mcp_revisions::service::client::Http;
use mcp_revisions::service::{Client, Server};
use mcp_revisions::{Revision, http};
use serde_json::Value;
use tower::ServiceExt;

use crate::transports::{call, client, router};

/// The messages that a server got: the method and the headers of each.
type Seen = Arc<Mutex<Vec<(String, HeaderMap)>>>;

/// A server of one revision behind what answers in its place: told the method, and how often it came before.
fn behind(
    revision: Revision,
    odd: impl Fn(&str, usize) -> Option<Response<String>> + Clone + Send + Sync + 'static,
) -> (Http, Seen) {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
    let server = Server::new(&info).with_revisions([revision].into_iter().collect());
    let served = router().build_with(server).unwrap();
    let served = served.into_http_service(http::Options::default());
    let seen: Seen = Arc::default();
    let kept = Arc::clone(&seen);
    let service = tower::service_fn(move |request: Request<Full<Bytes>>| {
        let (served, odd, kept) = (served.clone(), odd.clone(), Arc::clone(&kept));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let before = {
                let mut kept = kept.lock().unwrap();
                let before = kept.iter().filter(|(it, _)| *it == method).count();
                kept.push((method.clone(), parts.headers.clone()));
                before
            };
            match odd(&method, before) {
                Some(odd) => Ok(odd.map(http::Body::from)),
                None => {
                    let request = Request::from_parts(parts, Full::new(body));
                    served.oneshot(request).await
                }
            }
        }
    });
    let http = Http::in_process(service).with_pause(Duration::from_millis(1));
    (http, seen)
}

fn refusal(status: u16, header: Option<(&str, &str)>, body: &str) -> Response<String> {
    let mut response = Response::builder().status(status);
    if let Some((name, value)) = header {
        response = response.header(name, value);
    }
    response.body(body.to_owned()).unwrap()
}

fn times(seen: &Seen, method: &str) -> usize {
    let seen = seen.lock().unwrap();
    seen.iter().filter(|(it, _)| it == method).count()
}

const BOTH: [Revision; 2] = [Revision::V2025_06_18, Revision::V2026_07_28];

#[tokio::test(start_paused = true)]
async fn a_message_with_an_effect_is_sent_once_unless_its_server_did_not_begin_it() {
    for revision in BOTH {
        for (status, after, calls, lists) in [
            (429, None, 4, 4),
            (429, Some("1"), 4, 4),
            (503, Some("1"), 4, 4),
            (503, Some("Thu, 01 Jan 1970 00:00:00 GMT"), 4, 4),
            (503, None, 1, 4),
            (502, None, 1, 4),
            (504, None, 1, 4),
            (500, None, 1, 1),
            (408, None, 1, 1),
        ] {
            let (http, seen) = behind(revision, move |method, _| {
                let is_refused = method.starts_with("tools/");
                let after = after.map(|after| ("Retry-After", after));
                is_refused.then(|| refusal(status, after, "reset before headers"))
            });
            let client = client().http(http);
            let why = call(&client, "hello").await.unwrap_err().to_string();
            assert!(why.contains(&status.to_string()), "{why}");
            assert!(after.is_none_or(|after| why.contains(after)), "{why}");
            client.list_tools(None).await.unwrap_err();
            let found = (times(&seen, "tools/call"), times(&seen, "tools/list"));
            assert_eq!(found, (calls, lists), "{revision}: {status}, {after:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_message_that_a_proxy_cannot_pass_on_is_sent_again() {
    for revision in BOTH {
        for status in [502, 503, 504] {
            let (http, _) = behind(revision, move |method, before| {
                let is_first = ["initialize", "server/discover"].contains(&method);
                (is_first && before < 1).then(|| refusal(status, None, "<html>"))
            });
            let answer = call(&client().http(http), "hello").await;
            assert_eq!(answer, Ok("hello".to_owned()), "{revision}: {status}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for_and_says_for_how_long() {
    let (http, seen) = behind(BOTH[0], |method, _| {
        let after = Some(("Retry-After", "600"));
        (method == "tools/call").then(|| refusal(429, after, "slow down"))
    });
    let why = call(&client().http(http), "hello").await.unwrap_err();
    let why = why.to_string();
    assert!(why.contains("`Retry-After: 600` s: \"slow down\""), "{why}");
    assert_eq!(times(&seen, "tools/call"), 1);
    // An error of the server says more.
    let error = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32004,"message":"too many requests"}}"#;
    let (http, _) = behind(BOTH[0], |method, _| {
        let after = Some(("Retry-After", "600"));
        (method == "tools/call").then(|| refusal(429, after, error))
    });
    let why = call(&client().http(http), "hello").await.unwrap_err();
    assert!(why.to_string().contains("too many requests"), "{why}");
}

/// The values of a header in the messages that a server got.
async fn sent(client: Client, seen: &Seen, header: &str) -> Vec<String> {
    call(&client, "hello").await.unwrap();
    client.close().await.unwrap();
    let seen = seen.lock().unwrap();
    let value = |headers: &HeaderMap| {
        headers
            .get(header)
            .map(|it| it.to_str().unwrap().to_owned())
    };
    seen.iter()
        .map(|(_, headers)| value(headers).unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn cookies_go_back_to_their_server_and_each_request_says_who_sends_it() {
    let plant = |method: &str, before: usize| {
        let discovers = method == "server/discover" && before == 0;
        discovers.then(|| refusal(400, Some(("Set-Cookie", "AWSALB=1; Path=/")), ""))
    };
    let (http, seen) = behind(BOTH[0], plant);
    let cookies = sent(client().http(http.clone()), &seen, "cookie").await;
    assert_eq!(cookies[0], "");
    assert!(
        cookies[1..].iter().all(|it| it == "AWSALB=1"),
        "{cookies:?}"
    );
    // Another session has cookies of its own, or none.
    for http in [
        http.clone().with_header("Cookie", "a=b"),
        http.without_cookies(),
    ] {
        seen.lock().unwrap().clear();
        let cookies = sent(client().http(http), &seen, "cookie").await;
        let is_off = cookies[0].is_empty();
        let later = if is_off { "" } else { "a=b; AWSALB=1" };
        assert!(is_off || cookies[0] == "a=b");
        assert!(cookies[1..].iter().all(|it| it == later), "{cookies:?}");
    }
    let (http, seen) = behind(BOTH[1], |_, _| None);
    let senders = sent(client().http(http.clone()), &seen, "user-agent").await;
    assert!(
        senders.iter().all(|it| it.starts_with("mcp-revisions/")),
        "{senders:?}"
    );
    seen.lock().unwrap().clear();
    let own = http.with_header("User-Agent", "weather/2");
    let senders = sent(client().http(own), &seen, "user-agent").await;
    assert!(senders.iter().all(|it| it == "weather/2"), "{senders:?}");
}

#[tokio::test]
async fn a_redirect_that_is_not_followed_is_told_with_its_place_and_without_its_secrets() {
    for status in [301, 302, 303, 307, 308] {
        let (http, seen) = behind(BOTH[0], move |method, _| {
            let place = (
                "Location",
                "https://me:secret@other.example/mcp?token=secret",
            );
            (method == "tools/call").then(|| refusal(status, Some(place), ""))
        });
        let why = call(&client().http(http), "hello").await.unwrap_err();
        let why = why.to_string();
        assert!(
            why.contains("`https://other.example/mcp`") && !why.contains("secret"),
            "{why}"
        );
        assert_eq!(times(&seen, "tools/call"), 1);
    }
}

#[tokio::test]
async fn a_header_that_names_no_coding_is_none() {
    for codings in ["", "identity, Identity", "identity,"] {
        let (http, _) = behind(BOTH[0], move |method, _| {
            let codings = Some(("Content-Encoding", codings));
            (method == "tools/call").then(|| refusal(500, codings, "out of order"))
        });
        let why = call(&client().http(http), "hello").await.unwrap_err();
        assert!(why.to_string().contains("out of order"), "{why}");
    }
}

#[tokio::test]
async fn a_body_in_another_charset_is_told() {
    let (http, _) = behind(BOTH[0], |method, _| {
        let kind = Some(("Content-Type", "application/json; charset=\"iso-8859-1\""));
        (method == "tools/call").then(|| refusal(200, kind, "\u{e9}"))
    });
    // Its body is valid UTF-8, whatever it says.
    let why = call(&client().http(http), "hello").await.unwrap_err();
    assert!(!why.to_string().contains("charset"), "{why}");
    let served = tower::service_fn(|_: Request<Full<Bytes>>| async {
        let mut response = Response::new(Full::new(Bytes::from_static(b"{\"\xe9\":1}")));
        *response.status_mut() = StatusCode::OK;
        let kind = "application/json;charset=ISO-8859-1".parse().unwrap();
        response.headers_mut().insert("content-type", kind);
        Ok::<_, std::convert::Infallible>(response)
    });
    let why = call(&client().http(Http::in_process(served)), "hello").await;
    let why = why.unwrap_err().to_string();
    assert!(
        why.contains("charset `ISO-8859-1`: expected UTF-8"),
        "{why}"
    );
}
