//! The bridge as a library: upstreams of every kind, a service and two streams towards clients.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod apps;
mod breaks;
mod cache;
mod ends;
mod events;
mod gateway;
mod host;
mod late;
mod layers;
mod mistakes;
mod outside;
mod sign_in;
mod skills;
mod start;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_bridge::{Bridge, Error, Upstream};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::Client;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Lifecycle, Limits, Revision, RevisionSet, http, sansio::errors, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};

/// A server of one revision.
fn server(revision: Revision) -> Server {
    let info = Json::from(json!({ "name": revision.id(), "version": "1" }));
    let profile = Profile::new(&info, &Json::from(json!({ "tools": {} })));
    let server = Server::new(Revision::V2025_11_25, profile).unwrap();
    server.with_revisions(RevisionSet::none().with(revision))
}

/// It has one tool, which asks its client for a name where it can.
async fn greets(call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
    let params: Value = call.params.parse().unwrap();
    match (call.method, params["name"].as_str()) {
        ("tools/list", _) => {
            let tool = json!({ "name": "greet", "inputSchema": { "type": "object" } });
            Ok(Json::from(json!({ "tools": [tool] })))
        }
        ("tools/call", Some("greet")) => {
            let spoken = peer.session().caller().map_or("", |it| it.revision.id());
            let text = format!("hello in {spoken}");
            Ok(Json::from(
                json!({ "content": [{ "type": "text", "text": text }] }),
            ))
        }
        (method, _) => Err(errors::invalid_params(method).error),
    }
}

fn in_process(revision: Revision) -> Upstream {
    Upstream::service(http::Service::new(server(revision), greets))
}

/// The same server over two streams; each connection has a task of its own.
fn streams(revision: Revision) -> Upstream {
    Upstream::streams("greets", move || {
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        tokio::spawn(stdio::serve_on(server(revision), greets, ours.0, theirs.0));
        std::future::ready(Ok((theirs.1, ours.1)))
    })
}

fn client(
    revision: Revision,
) -> mcp_revisions::service::client::ClientBuilder<mcp_revisions::Latest, ()> {
    Client::builder(&mcp_revisions::program!())
        .with_revisions(RevisionSet::none().with(revision))
        .with_tasks()
}

async fn names(client: &Client) -> Vec<String> {
    let listed = client.request("tools/list", None).await.unwrap();
    let listed: Value = listed.parse().unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn text(client: &Client, tool: &str) -> String {
    let params = Json::from(json!({ "name": tool, "arguments": {} }));
    let result = client.request("tools/call", Some(params)).await.unwrap();
    let result: Value = result.parse().unwrap();
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn a_server_of_any_revision_in_this_process_serves_clients_of_every_revision() {
    for upstream in Revision::NEGOTIATED {
        for make in [in_process, streams] {
            let service = Bridge::new(make(*upstream)).into_service();
            for revision in Revision::NEGOTIATED {
                let client = client(*revision).http(Http::in_process(service.clone()));
                assert_eq!(names(&client).await, ["greet"], "{revision}, {upstream}");
                let said = text(&client, "greet").await;
                let expected = match upstream.lifecycle() {
                    Lifecycle::Handshake => format!("hello in {upstream}"),
                    // A server of this lifecycle has no session to send the notification in.
                    Lifecycle::PerRequest => "hello in ".to_owned(),
                };
                assert_eq!(said, expected, "{revision}");
                client.close().await.unwrap();
            }
            service.shutdown().await;
        }
    }
}

/// Its first message is answered by the server, and its end is the end of the bridge.
#[tokio::test]
async fn one_client_is_served_over_two_streams_and_one_pair_of_them() {
    let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    tokio::spawn(stdio::serve_on(
        server(Revision::V2025_06_18),
        greets,
        ours.0,
        theirs.0,
    ));
    let bridge = Bridge::new(Upstream::pair("greets", theirs.1, ours.1));
    let (input, output) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    let served = tokio::spawn(bridge.serve_stdio(input.0, output.0, std::future::pending()));
    let client = client(Revision::V2025_11_25).lines(output.1, input.1);
    assert_eq!(names(&client).await, ["greet"]);
    client.close().await.unwrap();
    served.await.unwrap().unwrap();
    // There is no second connection over the same pair.
    let (one, other) = tokio::io::duplex(1 << 10);
    drop(other);
    let spent = Upstream::pair("spent", tokio::io::empty(), tokio::io::sink());
    let first = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n".as_slice();
    let failed = Bridge::new(spent)
        .serve_stdio(first, one, std::future::pending())
        .await;
    assert!(matches!(failed, Err(Error::Upstream { .. })), "{failed:?}");
}

/// What the server is sent of clients is what tells them apart: without their names they share a connection.
/// All of them are there before the server is.
#[tokio::test]
async fn clients_that_come_at_once_are_served_and_none_is_sent_away() {
    let upstream = Upstream::streams("greets", || async {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        let server = server(Revision::V2025_06_18);
        tokio::spawn(stdio::serve_on(server, greets, ours.0, theirs.0));
        Ok((theirs.1, ours.1))
    });
    let service = Bridge::new(upstream).into_service();
    let clients: Vec<_> = (0..60)
        .map(|_| {
            let client = client(Revision::V2025_11_25)
                .http(Http::in_process(service.clone()).with_max_attempts(1));
            tokio::spawn(async move {
                let listed = client.request("tools/list", None).await.map(drop);
                let _ = client.close().await;
                listed
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap().unwrap();
    }
    service.shutdown().await;
}

#[tokio::test]
async fn clients_under_one_name_share_a_connection() {
    for (is_named, expected) in [(false, 2), (true, 1)] {
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let upstream = in_process(Revision::V2025_06_18).with_tap(move || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(|_, _: &str| ())
        });
        let mut bridge = Bridge::new(upstream);
        if is_named {
            bridge = bridge.with_client_info(Json::from(json!({ "name": "ours", "version": "1" })));
        }
        let service = bridge.into_service();
        for name in ["one", "two"] {
            let info =
                mcp_revisions::latest::Implementation::new(name, mcp_revisions::args::Version("1"));
            let client = Client::builder(&info).http(Http::in_process(service.clone()));
            assert_eq!(names(&client).await, ["greet"]);
            client.close().await.unwrap();
        }
        assert_eq!(connections.load(Ordering::SeqCst), expected);
        service.shutdown().await;
    }
}

/// Where connections are not known, each request of an isolated client has a connection to the server for itself.
#[tokio::test]
async fn requests_of_an_isolated_client_share_no_connection_that_is_not_known() {
    for is_isolated in [false, true] {
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let upstream = in_process(Revision::V2025_06_18).with_tap(move || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(|_, _: &str| ())
        });
        let mut bridge = Bridge::new(upstream);
        if is_isolated {
            bridge = bridge.with_isolation();
        }
        let service = bridge.into_service();
        let client = client(Revision::LATEST).http(Http::in_process(service.clone()));
        for _ in 0..4 {
            assert_eq!(names(&client).await, ["greet"]);
        }
        client.close().await.unwrap();
        let connections = connections.load(Ordering::SeqCst);
        assert!(
            is_isolated == (connections >= 4) && connections >= 1,
            "{connections}"
        );
        service.shutdown().await;
    }
}

/// What a server of one revision declares of an extension, and a tool that says what its client declared.
fn charts(revision: Revision, declared: &Value) -> Upstream {
    let info = Json::from(json!({ "name": revision.id(), "version": "1" }));
    let own = Json::from(json!({ "tools": {}, "extensions": declared }));
    let server = Server::new(Revision::LATEST, Profile::new(&info, &own)).unwrap();
    let server = server.with_revisions(RevisionSet::none().with(revision));
    let draws = |call: IncomingRequest, _: Peer| async move {
        let told = call.caller.capabilities_in(Revision::LATEST);
        let told = told.ok().flatten().and_then(|told| told.value());
        let told: Value = told.unwrap_or_default().parse().unwrap();
        let text = told["extensions"]["com.example/charts"].to_string();
        let content = json!([{ "type": "text", "text": text }]);
        Ok(Json::from(
            json!({ "resultType": "complete", "content": content }),
        ))
    };
    Upstream::service(http::Service::new(server, draws))
}

#[tokio::test]
async fn extensions_that_the_bridge_does_not_know_pass_between_peers_of_any_revision() {
    let (ours, theirs) = (json!({ "depth": 2 }), json!({ "of": ["bars"] }));
    for upstream in Revision::NEGOTIATED {
        let declared = json!({ "com.example/charts": theirs });
        let service = Bridge::new(charts(*upstream, &declared)).into_service();
        for revision in Revision::NEGOTIATED {
            let own = Json::from(json!({ "extensions": { "com.example/charts": ours } }));
            let client = client(*revision).with_capabilities(&own);
            let client = client.http(Http::in_process(service.clone()));
            let said = text(&client, "draw").await;
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said, ours, "{revision}, {upstream}");
            let facts = client.server().unwrap();
            let heard: Value = facts.capabilities.unwrap().parse().unwrap();
            assert_eq!(heard["extensions"], declared, "{revision}, {upstream}");
            client.close().await.unwrap();
        }
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_bridge_that_was_shut_down_refuses_calls_with_a_status_of_http() {
    let service = Bridge::new(in_process(Revision::LATEST)).into_service();
    let connect = || {
        let http = Http::in_process(service.clone()).with_max_attempts(1);
        client(Revision::LATEST).http(http)
    };
    let first = connect();
    assert_eq!(names(&first).await, ["greet"]);
    service.shutdown().await;
    let refused = connect().request("tools/list", None).await.unwrap_err();
    assert!(refused.to_string().contains("503"), "{refused}");
}

/// It is answered as one is that comes later, and what follows it is heard.
#[tokio::test]
async fn a_first_line_that_is_too_long_is_an_error_and_no_client() {
    let more_than_a_message = 2 * Limits::default().max_message_bytes as u64;
    let next = b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n".as_slice();
    let (silent, _held) = tokio::io::duplex(64);
    let long = tokio::io::repeat(b'x').take(more_than_a_message);
    let (output, read) = tokio::io::duplex(1 << 16);
    let served = Bridge::new(streams(Revision::V2025_06_18)).serve_stdio(
        long.chain(next).chain(silent),
        output,
        std::future::pending(),
    );
    let mut lines = tokio::io::BufReader::new(read).lines();
    let answered = async {
        let refused = lines.next_line().await.unwrap().unwrap();
        assert!(refused.contains("16777216"), "{refused}");
        let listed = lines.next_line().await.unwrap().unwrap();
        assert!(listed.contains("\"greet\""), "{listed}");
    };
    tokio::select! {
        _ = served => panic!("neither end has hung up"),
        answered = tokio::time::timeout(Duration::from_secs(20), answered) => answered.unwrap(),
    }
}
