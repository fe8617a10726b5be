//! Streams whose connection ends in the middle: their client comes again, and misses nothing.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use mcp_revisions::Revision;
use mcp_revisions::backplane::Memory;
use mcp_revisions::http::{Options, Service};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::Server;
use mcp_revisions::sansio::server::{IncomingRequest, Notification, Profile};
use mcp_revisions::serve::{Handler, Peer, Session};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::http::{Post, body, call, open, server};

/// Says two things before it answers; between them it waits for leave, or closes the connection.
struct Halting {
    leave: Arc<Semaphore>,
    closes: bool,
}

impl Handler for Halting {
    async fn call(&self, _: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        let say = async |number: u64| {
            let progress = json!({"progressToken": "p", "progress": number});
            let _ = (peer.notify("notifications/progress", Some(&Json::from(progress)))).await;
        };
        say(1).await;
        if self.closes {
            peer.close_stream();
        }
        drop(self.leave.acquire().await.unwrap());
        say(2).await;
        Ok(Json::from_text(r#"{"content":[]}"#).unwrap())
    }

    fn notice(&self, _: Notification, session: Session) {
        let _ = session.notify("notifications/tools/list_changed", None);
    }
}

fn halting(closes: bool) -> (Arc<Semaphore>, Halting) {
    let leave = Arc::new(Semaphore::new(0));
    let handler = Halting {
        leave: Arc::clone(&leave),
        closes,
    };
    (leave, handler)
}

fn asking() -> Value {
    let mut call = call("t", json!({}));
    call["params"]["_meta"] = json!({"progressToken": "p"});
    call
}

/// An event: its id, how long to wait, and its message if it has one.
#[derive(Debug, PartialEq)]
struct Event {
    id: Option<String>,
    retry: Option<String>,
    message: Option<Value>,
}

fn parsed(text: &str) -> Vec<Event> {
    let event = |text: &str| {
        let field = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| Some(line.strip_prefix(name)?.to_owned()))
        };
        Event {
            id: field("id: "),
            retry: field("retry: "),
            message: field("data: ")
                .filter(|data| !data.is_empty())
                .map(|data| serde_json::from_str(&data).unwrap()),
        }
    };
    let events = text.split("\n\n").filter(|text| !text.is_empty());
    events.map(event).collect()
}

async fn again(
    service: &Service,
    session: &str,
    id: &str,
) -> http::Response<mcp_revisions::http::Body> {
    let get = Post::of(&json!(0))
        .with("accept", "text/event-stream")
        .with("Mcp-Session-Id", session)
        .with("Last-Event-ID", id);
    service
        .clone()
        .oneshot(get.request(Method::GET))
        .await
        .unwrap()
}

#[tokio::test]
async fn events_have_ids_where_a_client_can_come_again_and_begin_with_one_where_it_may_be_sent_away()
 {
    for (version, begins) in [
        ("2024-11-05", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
    ] {
        let (leave, handler) = halting(false);
        leave.add_permits(10);
        let service = Service::new(server(), handler);
        let session = open(&service, version).await;
        let response = Post::of(&asking())
            .with("Mcp-Session-Id", &session)
            .to(&service)
            .await;
        let events = parsed(&body(response).await);
        assert_eq!(events.len(), 3 + usize::from(begins), "{events:?}");
        assert_eq!(
            events[0].message.is_none() && events[0].retry.is_some(),
            begins,
            "{events:?}"
        );
        let ids: Vec<_> = events.iter().filter_map(|event| event.id.clone()).collect();
        let unique: std::collections::BTreeSet<_> = ids.iter().collect();
        let has = if version == "2024-11-05" {
            0
        } else {
            events.len()
        };
        assert_eq!((ids.len(), unique.len()), (has, has), "{version}: {ids:?}");
    }
    let (leave, handler) = halting(false);
    leave.add_permits(10);
    let service = Service::new(server(), handler);
    let per_request = json!({"name": "t", "_meta": {"progressToken": "p"}});
    let events = parsed(
        &body(
            Post::per_request("tools/call", per_request)
                .to(&service)
                .await,
        )
        .await,
    );
    assert!(events.iter().all(|event| event.id.is_none()), "{events:?}");
}

#[tokio::test]
async fn a_client_whose_connection_broke_has_the_rest_again() {
    let (leave, handler) = halting(false);
    let service = Service::new(server(), handler);
    let session = open(&service, "2025-06-18").await;
    let response = Post::of(&asking())
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await;
    let mut broken = response.into_body();
    let first = broken.frame().await.unwrap().unwrap().into_data().unwrap();
    let first = parsed(std::str::from_utf8(&first).unwrap());
    drop(broken);
    leave.add_permits(1);
    // What is said while nobody listens, and what is said once somebody does, come alike.
    let response = again(&service, &session, first[0].id.as_ref().unwrap()).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let rest = parsed(&body(response).await);
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert_eq!(rest[0].message.as_ref().unwrap()["params"]["progress"], 2);
    assert_eq!(rest[1].message.as_ref().unwrap()["id"], 1);
    // From the beginning, once more: it is all kept.
    let stream = first[0].id.as_ref().unwrap().split_once('-').unwrap().0;
    let all = parsed(&body(again(&service, &session, &format!("{stream}-0")).await).await);
    assert_eq!(all.len(), 3, "{all:?}");
}

#[tokio::test]
async fn a_handler_that_closes_its_stream_is_come_again_to() {
    let (leave, handler) = halting(true);
    let options = Options::new().with_retry(Duration::from_millis(1234));
    let service = Service::with_options(server(), handler, options);
    let session = open(&service, "2025-11-25").await;
    let response = Post::of(&asking())
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await;
    // It ends although the call is at work.
    let told = parsed(&body(response).await);
    let last = told.last().unwrap();
    assert_eq!(
        (last.retry.as_deref(), &last.message),
        (Some("1234"), &None),
        "{told:?}"
    );
    leave.add_permits(1);
    let rest = parsed(&body(again(&service, &session, last.id.as_ref().unwrap()).await).await);
    let last = rest.last().unwrap().message.as_ref().unwrap();
    assert_eq!((rest.len(), &last["id"]), (2, &json!(1)), "{rest:?}");
}

#[tokio::test]
async fn an_event_of_a_call_that_is_not_kept_is_refused_and_its_session_goes_on() {
    let (leave, handler) = halting(false);
    leave.add_permits(10);
    let options = Options::new().with_backplane(Memory::with_event_bytes(0, 0));
    let service = Service::with_options(server(), handler, options);
    let session = open(&service, "2025-11-25").await;
    let response = Post::of(&asking())
        .with("Mcp-Session-Id", &session)
        .to(&service)
        .await;
    let events = parsed(&body(response).await);
    let first = events[0].id.clone().unwrap();
    // 404 would say that the session is over.
    for wrong in [&*first, "", "x", "1", "-", "1-2-3", "7-1"] {
        let response = again(&service, &session, wrong).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
    let (_, handler) = halting(false);
    let none = Service::with_options(server(), handler, Options::new().without_events());
    let unkept = open(&none, "2025-11-25").await;
    let response = again(&none, &unkept, "1-0").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    // Of another session there is nothing, whatever the number.
    let other = open(&service, "2025-11-25").await;
    let response = again(&service, &other, &first).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_stream_of_a_session_whose_events_are_not_kept_goes_on_and_tells_of_all_that_may_have_changed()
 {
    let unkept = Options::new().with_backplane(Memory::with_event_bytes(0, 0));
    for (options, behind) in [(unkept, "0-0"), (Options::new().without_events(), "0-5")] {
        let info = Json::from(json!({"name": "t", "version": "1"}));
        let capabilities = Json::from(json!({"tools": {"listChanged": true}}));
        let profile = Profile::new(&info, &capabilities);
        let listing = Server::new(Revision::V2025_11_25, profile).unwrap();
        let (_, handler) = halting(false);
        let service = Service::with_options(listing, handler, options);
        let session = open(&service, "2025-11-25").await;
        let stream = again(&service, &session, "0-0").await;
        assert_eq!(stream.status(), StatusCode::OK);
        drop(stream);
        // What is said now has no reader, and is not kept.
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        let post = Post::of(&changed).with("Mcp-Session-Id", &session);
        assert_eq!(post.to(&service).await.status(), StatusCode::ACCEPTED);
        let stream = again(&service, &session, behind).await;
        assert_eq!(stream.status(), StatusCode::OK, "{behind}");
        let mut stream = stream.into_body();
        let told = tokio::time::timeout(Duration::from_secs(10), async {
            loop {
                let frame = stream.frame().await.unwrap().unwrap();
                let text = frame.into_data().unwrap();
                let said = parsed(std::str::from_utf8(&text).unwrap());
                if let Some(message) = said.into_iter().find_map(|event| event.message) {
                    break message;
                }
            }
        });
        let told = told.await.unwrap();
        assert_eq!(
            told["method"], "notifications/tools/list_changed",
            "{behind}"
        );
    }
}
