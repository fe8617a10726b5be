//! What happens outside of calls: an upstream that tells of changes, and connections that are opened, shared and given up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, Service, Upstream};
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{ClientContext, Http};
use mcp_revisions::{Latest, Lifecycle, Revision, RevisionSet, args, http, stdio};
use serde_json::json;
use tokio::sync::{Notify, mpsc};

use crate::{client, greets, names, server, text};

const UPSTREAM: Revision = Revision::V2025_11_25;

async fn within<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(20), work).await;
    done.unwrap()
}

/// A server that tells its sessions that its tools have changed.
#[derive(Clone, Default)]
struct Changing(Arc<Mutex<Vec<Session>>>);

impl Handler for Changing {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        greets(call, peer).await
    }

    fn on_initialized(&self, session: Session) {
        self.0.lock().unwrap().push(session);
    }
}

impl Changing {
    fn upstream(&self) -> Upstream {
        let info = Json::from(json!({ "name": "changing", "version": "1" }));
        let declared = Json::from(json!({ "tools": { "listChanged": true } }));
        let server = Server::new(UPSTREAM, Profile::new(&info, &declared)).unwrap();
        let server = server.serving(RevisionSet::none().with(UPSTREAM));
        Upstream::service(http::Service::new(server, self.clone()))
    }

    fn change(&self) {
        for session in self.0.lock().unwrap().iter() {
            let _ = session.notify("notifications/tools/list_changed", None);
        }
    }
}

/// A client that hears of changes.
struct Hears(mpsc::UnboundedSender<()>);

impl ClientHandlers<ClientContext<Latest>> for Hears {
    async fn tool_list_changed(&self, _: mcp::NotificationParams, _: ClientContext<Latest>) {
        let _ = self.0.send(());
    }
}

fn named(service: &Service, name: &str) -> Client {
    let info = mcp::Implementation::new(name, args::Version("1"));
    Client::builder(&info).http(Http::in_process(service.clone()))
}

/// A client that has heard of a change, and still listens.
async fn listening(service: &Service, changing: &Changing, revision: Revision) -> Client {
    let (heard, mut hears) = mpsc::unbounded_channel();
    let client = client(revision)
        .with_handlers(Hears(heard))
        .http(Http::in_process(service.clone()));
    assert_eq!(names(&client).await, ["greet"]);
    if revision.lifecycle() == Lifecycle::PerRequest {
        let wanted = Json::from(json!({ "notifications": { "toolsListChanged": true } }));
        let listens = client.clone();
        tokio::spawn(async move { listens.request("subscriptions/listen", Some(wanted)).await });
    }
    // Nothing says when its stream is there.
    within(async {
        while hears.try_recv().is_err() {
            changing.change();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    client
}

#[tokio::test]
async fn what_an_upstream_tells_outside_of_calls_reaches_clients_of_every_revision() {
    for revision in Revision::NEGOTIATED {
        let changing = Changing::default();
        let service = Bridge::new(changing.upstream()).into_service();
        let client = listening(&service, &changing, *revision).await;
        drop(client);
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_connection_with_a_listening_client_is_not_given_to_another() {
    let changing = Changing::default();
    let bridge = Bridge::new(changing.upstream()).with_max_servers(1);
    let service = bridge.into_service();
    let _listens = listening(&service, &changing, Revision::LATEST).await;
    let other = named(&service, "other");
    let refused = other.request("tools/list", None).await.unwrap_err();
    assert!(
        refused.to_string().contains("1 servers are at work"),
        "{refused}"
    );
    service.shutdown().await;
}

#[tokio::test]
async fn a_session_whose_server_could_not_be_started_takes_no_room_from_others() {
    let (is_broken, failed) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (breaks, fails) = (Arc::clone(&is_broken), Arc::clone(&failed));
    let upstream = Upstream::streams("breaks", move || {
        let is_broken = breaks.load(Ordering::SeqCst);
        fails.fetch_add(usize::from(is_broken), Ordering::SeqCst);
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        if !is_broken {
            let server = server(UPSTREAM);
            tokio::spawn(stdio::serve_on(server, greets, ours.0, theirs.0));
        }
        std::future::ready(match is_broken {
            true => Err(std::io::Error::other("it is broken")),
            false => Ok((theirs.1, ours.1)),
        })
    });
    let service = Bridge::new(upstream).with_max_servers(1).into_service();
    let connect = || client(UPSTREAM).http(Http::in_process(service.clone()));
    let first = connect();
    assert_eq!(names(&first).await, ["greet"]);
    first.close().await.unwrap();
    is_broken.store(true, Ordering::SeqCst);
    let unlucky = connect();
    let refused = unlucky.request("tools/list", None).await.unwrap_err();
    assert!(refused.to_string().contains("it is broken"), "{refused}");
    // Word of the session has come, too, and each of the two has tried.
    within(async {
        while failed.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!(names(&named(&service, "other")).await, ["greet"]);
    service.shutdown().await;
}

#[tokio::test]
async fn a_client_has_a_tenth_of_all_servers_by_default_and_ten_at_least() {
    for (all, each) in [(5, 5), (20, 10), (150, 15)] {
        let at_work = Arc::new(AtomicUsize::new(0));
        let begun = Arc::clone(&at_work);
        let stuck = move |_: IncomingRequest, _: Peer| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        };
        let upstream = Upstream::service(http::Service::new(server(UPSTREAM), stuck));
        let service = Bridge::new(upstream).with_max_servers(all).into_service();
        let call = |number: usize| {
            let client = named(&service, &number.to_string());
            async move { client.request("tools/list", None).await }
        };
        let calls: Vec<_> = (0..each).map(|number| tokio::spawn(call(number))).collect();
        within(async {
            while at_work.load(Ordering::SeqCst) < each {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let refused = call(each).await.unwrap_err();
        let why = format!("{each} servers are at work for this client");
        assert!(refused.to_string().contains(&why), "{refused}");
        calls.iter().for_each(tokio::task::JoinHandle::abort);
        service.shutdown().await;
    }
}

/// A server of the handshake lifecycle does not say in which call it asks.
#[tokio::test]
async fn a_call_that_waits_for_the_one_before_is_made_once_that_is_answered() {
    let first = Arc::new(Notify::new());
    let leave = Arc::clone(&first);
    let (begin, mut begun) = mpsc::unbounded_channel();
    let tools = move |call: IncomingRequest, _: Peer| {
        let (leave, begin) = (Arc::clone(&leave), begin.clone());
        async move {
            if call.params.text().contains("first") {
                let _ = begin.send(());
                leave.notified().await;
            }
            let done = json!({ "content": [{ "type": "text", "text": "done" }] });
            Ok(Json::from(done))
        }
    };
    let upstream = Upstream::service(http::Service::new(server(UPSTREAM), tools));
    let service = Bridge::new(upstream).into_service();
    let client = client(Revision::LATEST)
        .with_capabilities(&Json::from(json!({ "elicitation": {} })))
        .http(Http::in_process(service.clone()));
    let other = async {
        begun.recv().await;
        let leave = async {
            // Long enough for the other to arrive, and to be held.
            tokio::time::sleep(Duration::from_millis(50)).await;
            first.notify_one();
        };
        tokio::join!(text(&client, "second"), leave).0
    };
    let both = async { tokio::join!(text(&client, "first"), other) };
    assert_eq!(within(both).await, ("done".to_owned(), "done".to_owned()));
    service.shutdown().await;
}
