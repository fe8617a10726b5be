//! Events: one function per event type, of which polls and streams are made, and a client whose stream goes on by its position.

use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::args::{Id, Url};
use mcp_revisions::core::errors::{FORBIDDEN, NOT_FOUND, UNSUPPORTED};
use mcp_revisions::core::extensions::events::{self as ext, CallServer as _};
use mcp_revisions::http::{self, Options};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::events::{EventStream, EventUpdate};
use mcp_revisions::service::router::events::{EventSignal, Events};
use mcp_revisions::service::{Client, Error, Router, Server};
use mcp_revisions::{Lifecycle, RevisionSet};
use serde_json::{Value, json};
use tokio::io::{copy_bidirectional, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service::peer::{Peer, revisions};
use crate::support::served;

pub(super) const ORDERS: &str = "order.placed";

/// A log of events, which outlives servers. Its positions are the numbers of events.
#[derive(Default)]
pub(super) struct Log {
    events: Mutex<Vec<String>>,
    /// Number of the events that it has forgotten.
    pub(super) forgotten: AtomicUsize,
    /// Maximum number of events of an answer; 0 for all.
    chop: AtomicUsize,
    pub(super) signal: EventSignal,
    pub(super) is_forbidden: Mutex<bool>,
}

impl Log {
    pub(super) fn of(count: usize) -> Arc<Self> {
        let log = Self::default();
        log.add(count, 0);
        Arc::new(log)
    }

    pub(super) fn add(&self, count: usize, bytes: usize) {
        let mut events = self.events.lock().unwrap();
        for _ in 0..count {
            events.push("x".repeat(bytes));
        }
        drop(events);
        self.signal.wake();
    }

    fn since(&self, params: &ext::PollEventsRequestParams) -> Result<ext::PollEventsResult, Error> {
        if *self.is_forbidden.lock().unwrap() {
            return Err(Error::application(FORBIDDEN, "not any more"));
        }
        let events = self.events.lock().unwrap();
        let asked = params.cursor.clone().flatten();
        let asked = asked.map_or(events.len(), |cursor| cursor.parse().unwrap());
        let begin = asked.max(self.forgotten.load(Ordering::Relaxed));
        let most = params.max_events.as_ref().and_then(|it| it.as_u64());
        let chop = self.chop.load(Ordering::Relaxed);
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
        let most = if chop == 0 { most } else { most.min(chop) };
        let end = events.len().min(begin.saturating_add(most));
        let found = (begin..end).map(|number| {
            let data = json!({ "number": number, "text": events[number] });
            let data = JsonObject::try_from(Json::from(data)).unwrap();
            let id = format!("order-{number}");
            ext::EventOccurrence::new(ORDERS, data, Id(id), "2026-11-29T12:00:00Z")
                .with_cursor(Some((number + 1).to_string()))
        });
        Ok(ext::PollEventsResult::new(found.collect())
            .with_cursor(Some(end.to_string()))
            .with_has_more(end < events.len())
            .with_truncated(begin > asked))
    }
}

pub(super) fn events(log: &Arc<Log>) -> Events {
    let (log, signal) = (Arc::clone(log), log.signal.clone());
    let check = move |params: ext::PollEventsRequestParams| {
        let log = Arc::clone(&log);
        async move { log.since(&params) }
    };
    let event = ext::EventType::new(ORDERS, vec![], JsonObject::new());
    // No look comes by itself.
    let interval = Duration::from_secs(100_000);
    Events::new()
        .event(event, &signal, check)
        .with_interval(interval)
}

/// Connects a client to a new server with these events.
fn connect(events: Events) -> Client {
    let server = Router::new().events(events).build("shop", "1").unwrap();
    let (input, output) = split(served(server));
    let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    client.lines(input, output)
}

fn behind(cursor: impl ToString) -> ext::StreamEventsRequestParams {
    ext::StreamEventsRequestParams::new(ORDERS).with_cursor(Some(cursor.to_string()))
}

/// Takes the next update, and returns the number of its event.
async fn number(stream: &mut EventStream) -> u64 {
    let next = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
    match next.unwrap() {
        Some(EventUpdate::Event(event)) => {
            let data: Value = Json::of(&event.data).parse().unwrap();
            let number = data["number"].as_u64().unwrap();
            assert_eq!(event.event_id, format!("order-{number}"));
            number
        }
        other => panic!("{other:?}, {:?}", stream.error()),
    }
}

pub(super) fn code(error: &Error) -> Option<i64> {
    match error {
        Error::Rpc(error) => error.code.as_i64(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn polls_and_a_stream_have_the_same_events_however_they_are_chopped_and_from_every_position()
{
    let (count, mut random) = (24_u64, fastrand::Rng::with_seed(0x0e1e));
    let log = Log::of(usize::try_from(count).unwrap());
    for begin in 0..=count {
        log.chop.store(random.usize(0..6), Ordering::Relaxed);
        // Each is a server that was started again.
        let client = connect(events(&log));
        let (mut polled, mut cursor) = (Vec::new(), begin.to_string());
        loop {
            let poll = ext::PollEventsRequestParams::new(ORDERS).with_cursor(Some(cursor));
            let poll = poll.with_max_events(random.i64(1..9));
            let batch = client.poll_events(poll).await.unwrap();
            assert_eq!(batch.truncated, Some(false));
            for event in batch.events {
                assert_eq!(event.cursor, None);
                polled.push(event.event_id);
            }
            cursor = batch.cursor.flatten().unwrap();
            if batch.has_more != Some(true) {
                break;
            }
        }
        let expected: Vec<String> = (begin..count).map(|it| format!("order-{it}")).collect();
        assert_eq!(polled, expected);
        let mut stream = client.events(behind(begin)).await.unwrap();
        for expected in begin..count {
            assert_eq!(number(&mut stream).await, expected);
            // From here a program goes on that is started again.
            assert_eq!(stream.cursor(), Some(&*(expected + 1).to_string()));
        }
        client.close().await.unwrap();
    }
    // Without a position both begin now.
    let client = connect(events(&log));
    let poll = ext::PollEventsRequestParams::new(ORDERS);
    let batch = client.poll_events(poll).await.unwrap();
    assert_eq!(
        (batch.events, batch.cursor.flatten()),
        (vec![], Some(count.to_string()))
    );
    let now = ext::StreamEventsRequestParams::new(ORDERS);
    let mut stream = client.events(now).await.unwrap();
    log.add(1, 0);
    assert_eq!(number(&mut stream).await, count);
}

#[tokio::test]
async fn a_gap_is_told_by_a_stream_and_by_polls_and_the_rest_comes() {
    for is_pushed in [true, false] {
        let log = Log::of(6);
        log.forgotten.store(4, Ordering::Relaxed);
        let events = events(&log);
        let events = if is_pushed {
            events
        } else {
            events.without_push()
        };
        let client = connect(events);
        let listed = client.list_all_events().await.unwrap();
        let modes = Json::of(&listed[0].delivery).to_string();
        assert_eq!(modes.contains("push"), is_pushed, "{modes}");
        let mut stream = client.events(behind(1)).await.unwrap();
        assert_eq!(stream.next().await, Some(EventUpdate::Skipped));
        assert_eq!(number(&mut stream).await, 4);
        assert_eq!(number(&mut stream).await, 5);
        assert_eq!(stream.cursor(), Some("6"));
    }
}

#[tokio::test]
async fn a_reader_that_is_slower_than_the_server_gets_every_event_once() {
    let log = Log::of(0);
    let client = connect(events(&log));
    let mut stream = client.events(behind(0)).await.unwrap();
    // More than all queues between the two hold.
    log.add(2_000, 2_000);
    tokio::time::sleep(Duration::from_millis(50)).await;
    for expected in 0..2_000 {
        assert_eq!(number(&mut stream).await, expected);
    }
}

#[tokio::test]
async fn a_server_ends_with_its_client_though_a_stream_is_open() {
    let events = events(&Log::of(0));
    let server = Router::new().events(events).build("shop", "1").unwrap();
    let (near, far) = duplex(1 << 16);
    let (input, output) = split(far);
    let served = tokio::spawn(server.lines(input, output));
    let (input, output) = split(near);
    let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    let client = client.lines(input, output);
    let stream = client.events(behind(0)).await.unwrap();
    client.close().await.unwrap();
    let served = tokio::time::timeout(Duration::from_secs(20), served).await;
    served.unwrap().unwrap().unwrap();
    drop(stream);
}

/// A server over HTTP, which can be stopped.
struct Running {
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    port: u16,
}

impl Running {
    async fn start(log: &Arc<Log>, port: u16) -> Self {
        let server = Router::new()
            .events(events(log))
            .build("shop", "1")
            .unwrap();
        let service = server.into_http_service(Options::default());
        let listener = http::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stopped = async { _ = stopped.await };
            http::serve_until(listener, service, stopped, Duration::ZERO).await;
        });
        Self { stop, served, port }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_goes_on_at_a_server_that_was_started_again_without_loss_or_repetition() {
    let log = Log::of(0);
    let first = Running::start(&log, 0).await;
    let port = first.port;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    let client = client.url(&url).unwrap();
    let mut stream = client.events(behind(0)).await.unwrap();
    log.add(3, 0);
    for expected in 0..3 {
        assert_eq!(number(&mut stream).await, expected);
    }
    first.stop().await;
    // These happen while the server is down.
    log.add(3, 0);
    let second = Running::start(&log, port).await;
    for expected in 3..6 {
        assert_eq!(number(&mut stream).await, expected);
    }
    log.add(1, 0);
    assert_eq!(number(&mut stream).await, 6);
    *log.is_forbidden.lock().unwrap() = true;
    log.signal.wake();
    assert_eq!(stream.next().await, None);
    assert_eq!(code(stream.error().unwrap()), Some(FORBIDDEN));
    second.stop().await;
}

#[tokio::test]
async fn a_stream_survives_its_replica_at_the_other_one_by_its_cursor() {
    let log = Log::of(2);
    let (one, other) = (Running::start(&log, 0).await, Running::start(&log, 0).await);
    let chosen = Arc::new(AtomicU16::new(one.port));
    let front = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", front.local_addr().unwrap());
    let target = Arc::clone(&chosen);
    crate::support::spawn(async move {
        while let Ok((mut near, _)) = front.accept().await {
            let port = target.load(Ordering::SeqCst);
            let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
        }
    });
    let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    let mut stream = client.url(&url).unwrap().events(behind(0)).await.unwrap();
    for expected in 0..2 {
        assert_eq!(number(&mut stream).await, expected);
    }
    chosen.store(other.port, Ordering::SeqCst);
    one.stop().await;
    log.add(3, 0);
    for expected in 2..5 {
        assert_eq!(number(&mut stream).await, expected);
    }
    other.stop().await;
}

#[tokio::test]
async fn events_are_offered_to_peers_of_their_lifecycle_only_and_refused_by_their_codes() {
    for revision in revisions() {
        let lost: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&lost);
        let info = mcp_revisions::program!();
        let builder = Server::new(&info).with_revisions(RevisionSet::from_iter([revision]));
        let router = Router::new().events(events(&Log::of(0)));
        let server = router.build_with(builder).unwrap().on_loss(move |losses| {
            let rules = losses.losses.iter().map(|loss| loss.rule().to_owned());
            told.lock().unwrap().extend(rules);
        });
        let rule = "extension-of-other-lifecycle".to_owned();
        if revision.lifecycle() == Lifecycle::Handshake {
            let (near, far) = duplex(1 << 16);
            let (input, output) = split(far);
            crate::support::spawn(async move { server.lines(input, output).await.unwrap() });
            let mut peer = Peer::connect(revision, near).await;
            assert_eq!(peer.opened["capabilities"]["extensions"], Value::Null);
            let refused = peer.call("events/poll", json!({ "name": ORDERS })).await;
            assert_eq!(refused.unwrap_err()["code"], -32601, "{revision}");
            let count = lost
                .lock()
                .unwrap()
                .iter()
                .filter(|it| **it == rule)
                .count();
            assert_eq!(count, 1, "{revision}");
            let builder = Server::new(&info).with_revisions(RevisionSet::from_iter([revision]));
            let server = Router::new().build_with(builder).unwrap();
            let client = server.client(Client::builder(&info).with_custom_methods());
            let listed = client.list_all_events().await.unwrap_err();
            let poll = ext::PollEventsRequestParams::new(ORDERS);
            let polled = client.poll_events(poll).await.unwrap_err();
            for error in [listed.to_string(), polled.to_string()] {
                assert!(
                    error.contains("the extension `io.modelcontextprotocol/events`, which"),
                    "{error}"
                );
            }
            continue;
        }
        let client = server.client(Client::builder(&info).with_custom_methods());
        assert_eq!(client.list_all_events().await.unwrap().len(), 1);
        for method in ["events/poll", "events/stream"] {
            let params = Json::from(json!({ "name": "nothing" }));
            let refused = client.request(method, Some(params)).await;
            assert_eq!(code(&refused.unwrap_err()), Some(NOT_FOUND));
        }
        let hook = ext::WebhookDelivery::new(Url("https://example.com/hook"), "whsec_none");
        let hook = ext::SubscribeEventsRequestParams::new(ORDERS, hook);
        let refused = client.subscribe_events(hook).await;
        assert_eq!(code(&refused.unwrap_err()), Some(UNSUPPORTED));
        assert!(!lost.lock().unwrap().contains(&rule), "{revision}");
    }
}
