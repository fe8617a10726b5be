//! Lists that clients share: whether and how long, by the server or by the configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_bridge::{Bridge, Gateway, Upstream};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, RevisionSet, http};
use serde_json::{Value, json};

use crate::{client, names};

/// A server of one revision, and the count of its lists, which it lets clients share if its revision can say so.
fn counted(revision: Revision) -> (Upstream, Arc<AtomicUsize>) {
    let listed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&listed);
    let handler = move |_: IncomingRequest, _: Peer| {
        count.fetch_add(1, Ordering::Relaxed);
        let tool = json!({ "name": "greet", "inputSchema": { "type": "object" } });
        let mut page: Value = json!({ "tools": [tool] });
        if revision == Revision::LATEST {
            page = json!({
                "resultType": "complete", "tools": page["tools"], "ttlMs": 60_000, "cacheScope": "public",
            });
        }
        std::future::ready(Ok(Json::from(page)))
    };
    let info = Json::from(json!({ "name": "counted", "version": "1" }));
    let profile = Profile::new(&info, &Json::from(json!({ "tools": {} })));
    let server = Server::new(revision, profile).unwrap();
    let server = server.with_revisions(RevisionSet::none().with(revision));
    (
        Upstream::service(http::Service::new(server, handler)),
        listed,
    )
}

/// Returns how many lists the server is asked for by two clients of each of two revisions, which ask twice.
async fn lists(revision: Revision, set: impl FnOnce(Bridge) -> Bridge) -> usize {
    let (upstream, listed) = counted(revision);
    // The header check of the bridge asks for lists as well.
    let options = http::Options::new().without_param_check();
    let bridge = Bridge::new(upstream).with_upstream_revision(revision);
    let service = set(bridge.with_http_options(options)).into_service();
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        for _ in 0..2 {
            let client = client(revision).http(Http::in_process(service.clone()));
            for _ in 0..2 {
                assert_eq!(names(&client).await, ["greet"], "{revision}");
            }
            client.close().await.unwrap();
        }
    }
    service.shutdown().await;
    listed.load(Ordering::Relaxed)
}

#[tokio::test]
async fn clients_share_lists_as_their_server_or_the_configuration_says() {
    assert_eq!(lists(Revision::LATEST, |bridge| bridge).await, 1);
    assert_eq!(lists(Revision::LATEST, Bridge::without_cache).await, 8);
    assert_eq!(lists(Revision::V2025_06_18, |bridge| bridge).await, 8);
    let hour = Duration::from_secs(3_600);
    let shared = lists(Revision::V2025_06_18, |bridge| bridge.with_list_ttl(hour));
    assert_eq!(shared.await, 1);
}

#[tokio::test]
async fn clients_of_a_gateway_share_lists_of_an_older_server_as_the_configuration_says() {
    let hour = Duration::from_secs(3_600);
    for (ttl, expected) in [(None, 4), (Some(hour), 1)] {
        let (upstream, listed) = counted(Revision::V2025_06_18);
        let bridge = Bridge::new(upstream);
        let bridge = match ttl {
            Some(ttl) => bridge.with_list_ttl(ttl),
            None => bridge,
        };
        let gateway = Gateway::builder().build();
        gateway.insert("one", bridge).unwrap();
        let service = gateway.service(http::Options::new()).unwrap();
        for revision in [Revision::V2025_11_25, Revision::LATEST] {
            for _ in 0..2 {
                let client = client(revision).http(Http::in_process(service.clone()));
                assert_eq!(names(&client).await, ["one_greet"], "{revision}");
                client.close().await.unwrap();
            }
        }
        gateway.shutdown().await;
        assert_eq!(listed.load(Ordering::Relaxed), expected);
    }
}
