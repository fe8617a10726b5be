//! Changes as a stream: heard from servers of every revision, also of one that is started again.

use std::time::Duration;

use mcp_revisions::http::{self, Options};
use mcp_revisions::latest as mcp;
use mcp_revisions::service::client::{Change, ChangeStream};
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Client, McpServer, Router, Server};
use mcp_revisions::{Latest, Revision, RevisionSet};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::service::peer::revisions;
use crate::support::served;

const NEWS: &str = "file:///news";

fn server(only: Revision, changes: &Changes) -> McpServer<Latest> {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
    let server = Server::new(&info).with_revisions(RevisionSet::from_iter([only]));
    let router = Router::new()
        .with_changes(changes)
        .tool("sky", "", || async { "clear" })
        .resource(NEWS, "news", || async { "None." });
    router.build_with(server).unwrap()
}

fn filter() -> mcp::SubscriptionFilter {
    mcp::SubscriptionFilter::new()
        .with_tools_list_changed(true)
        .with_resource_subscriptions(vec![NEWS.to_owned()])
}

fn news() -> Change {
    Change::Resource(NEWS.to_owned())
}

async fn next(stream: &mut ChangeStream) -> Option<Change> {
    timeout(Duration::from_secs(20), stream.next())
        .await
        .unwrap()
}

/// Changes the news until it is heard: nothing says when a stream of a handshake revision is there.
async fn hears_news(stream: &mut ChangeStream, changes: &Changes) {
    let heard = async {
        loop {
            changes.resource(NEWS);
            let change = timeout(Duration::from_millis(50), stream.next()).await;
            if matches!(change, Ok(Some(change)) if change == news()) {
                return;
            }
        }
    };
    timeout(Duration::from_secs(20), heard).await.unwrap();
}

#[tokio::test]
async fn changes_of_a_server_of_any_revision_are_one_stream() {
    for revision in revisions() {
        let changes = Changes::new();
        let running = server(revision, &changes);
        let (input, output) = split(served(running));
        let client = Client::builder(&mcp_revisions::program!()).lines(input, output);
        let mut stream = client.listen(filter()).await.unwrap();
        // In a session it is subscribed to once the call before has been answered.
        client.call("sky", &serde_json::json!({})).await.unwrap();
        changes.prompts();
        changes.tools();
        changes.resource(NEWS);
        assert_eq!(next(&mut stream).await, Some(Change::Tools), "{revision}");
        assert_eq!(next(&mut stream).await, Some(news()), "{revision}");
        assert!(stream.error().is_none());
        client.close().await.unwrap();
        assert_eq!(next(&mut stream).await, None, "{revision}");
        assert!(stream.error().is_some());
    }
}

/// A server over HTTP, which can be stopped.
struct Running {
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    changes: Changes,
}

impl Running {
    async fn start(only: Revision, port: u16) -> (Self, u16) {
        let changes = Changes::new();
        let service = server(only, &changes).into_http_service(Options::default());
        let listener = http::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stopped = async { _ = stopped.await };
            http::serve_until(listener, service, stopped, Duration::ZERO).await;
        });
        let running = Self {
            stop,
            served,
            changes,
        };
        (running, port)
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_started_again_is_listened_to_again() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        let (first, port) = Running::start(revision, 0).await;
        let url = format!("http://127.0.0.1:{port}/mcp");
        let client = Client::builder(&mcp_revisions::program!())
            .url(&url)
            .unwrap();
        let mut stream = client.listen(filter()).await.unwrap();
        hears_news(&mut stream, &first.changes).await;
        first.stop().await;
        let (second, _) = Running::start(revision, port).await;
        // It is not known what changed meanwhile.
        while next(&mut stream).await != Some(Change::Tools) {}
        hears_news(&mut stream, &second.changes).await;
        drop(stream);
        client.close().await.unwrap();
        second.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_has_no_changes_refuses_to_be_listened_to() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
        let server = Server::new(&info).with_revisions(RevisionSet::from_iter([revision]));
        let router = Router::new().tool("sky", "", || async { "clear" });
        let running = router.build_with(server).unwrap();
        let (input, output) = split(served(running));
        let client = Client::builder(&mcp_revisions::program!()).lines(input, output);
        let refused = client.listen(filter()).await;
        match revision.lifecycle() {
            // A session has nothing to say of what is not declared.
            mcp_revisions::Lifecycle::Handshake => drop(refused),
            mcp_revisions::Lifecycle::PerRequest => drop(refused.unwrap_err()),
        }
        client.close().await.unwrap();
    }
}

/// A framework waits for each response that is open, and a stream of changes is one that has no end of its own.
#[tokio::test]
async fn a_server_in_axum_that_closes_its_service_stops_though_clients_listen() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let changes = Changes::new();
        let service = server(revision, &changes).into_http_service(Options::default());
        let app = axum::Router::new().route_service("/mcp", service.clone());
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stopped = async move {
                _ = stopped.await;
                service.close();
            };
            let served = axum::serve(listener, app).with_graceful_shutdown(stopped);
            served.await.unwrap();
        });
        let client = Client::builder(&mcp_revisions::program!())
            .url(&url)
            .unwrap();
        let mut stream = client.listen(filter()).await.unwrap();
        hears_news(&mut stream, &changes).await;
        stop.send(()).unwrap();
        timeout(Duration::from_secs(20), served)
            .await
            .unwrap()
            .unwrap();
        client.close().await.unwrap();
    }
}

/// Answers `server/discover`, tells of many changes before it acknowledges a subscription, and ends.
async fn tells_before_it_listens(stream: tokio::io::DuplexStream) {
    let (input, mut output) = split(stream);
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = &message["id"];
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        let mut texts = Vec::new();
        if message["method"] == "server/discover" {
            let result = json!({
                "resultType": "complete", "capabilities": {"resources": {"subscribe": true}},
                "supportedVersions": [Revision::LATEST.protocol_version()],
            });
            texts.push(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        } else {
            let params = json!({"uri": NEWS, "_meta": meta});
            let method = "notifications/resources/updated";
            let change = json!({"jsonrpc": "2.0", "method": method, "params": params});
            texts.resize(1_000, change);
            let agreed = json!({"notifications": {"resourceSubscriptions": [NEWS]}, "_meta": meta});
            let method = "notifications/subscriptions/acknowledged";
            texts.push(json!({"jsonrpc": "2.0", "method": method, "params": agreed}));
        }
        for text in &texts {
            let line = format!("{text}\n");
            output.write_all(line.as_bytes()).await.unwrap();
        }
        if texts.len() > 1 {
            return;
        }
    }
}

#[tokio::test]
async fn changes_before_a_server_listens_are_folded_once_too_many_wait() {
    let (near, far) = duplex(1 << 16);
    crate::support::spawn(tells_before_it_listens(far));
    let (input, output) = split(near);
    let client = Client::builder(&mcp_revisions::program!()).lines(input, output);
    let mut stream = client.listen(filter()).await.unwrap();
    let mut heard = Vec::new();
    while let Some(change) = next(&mut stream).await {
        heard.push(change);
    }
    // 64 KiB, and then each that there may have been.
    assert!((100..400).contains(&heard.len()), "{}", heard.len());
    assert!(heard.contains(&Change::Tools));
}
