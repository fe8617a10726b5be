//! The cache of a client: calls that are saved, and no result beyond its time, on a clock of the test.

use crate::support::served;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_revisions::args::Version;
use mcp_revisions::latest::{self as mcp, ServerHandlers};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::service::client::ClientBuilder;
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Client, Error, RequestContext, Router, Server};
use mcp_revisions::{Latest, Revision};
use serde_json::json;
use tokio::io::split;

/// Lists that are good for five seconds, with the number of the request as the name of the tool.
struct Lists {
    listed: Arc<AtomicUsize>,
    scope: &'static str,
}

/// Returns a list that is good for five seconds.
fn page(number: usize, scope: &str) -> Result<mcp::ListToolsResult, Error> {
    let tool = json!({ "name": format!("tool{number}"), "inputSchema": { "type": "object" } });
    let page = json!({
        "resultType": "complete", "tools": [tool], "ttlMs": 5_000, "cacheScope": scope,
    });
    Ok(Json::from(page).read()?)
}

impl ServerHandlers<RequestContext<Latest>> for Lists {
    async fn list_tools(
        &self,
        _: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<mcp::ListToolsResult, Error> {
        page(self.listed.fetch_add(1, Ordering::Relaxed), self.scope)
    }
}

/// Returns a client of such a server, and the count of its lists.
fn connect(
    revision: Revision,
    scope: &'static str,
    set: impl FnOnce(ClientBuilder<Latest, ()>) -> ClientBuilder<Latest, ()>,
) -> (Client, Arc<AtomicUsize>) {
    let info = mcp::Implementation::new("example", Version("1"));
    let listed = Arc::new(AtomicUsize::new(0));
    let lists = Lists {
        listed: Arc::clone(&listed),
        scope,
    };
    let running = Server::<Latest>::new(&info).build(lists).unwrap();
    let (input, output) = split(served(running));
    let client = Client::builder(&info).with_revisions([revision].into_iter().collect());
    (set(client).lines(input, output), listed)
}

async fn first(client: &Client) -> (String, i64) {
    let page = Caller::request(client, "tools/list", None).await.unwrap();
    let page: serde_json::Value = page.parse().unwrap();
    let name = page["tools"][0]["name"].as_str().unwrap().to_owned();
    (name, page["ttlMs"].as_i64().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_cache_asks_once_for_as_long_as_the_server_says_and_no_longer() {
    for scope in ["public", "private"] {
        let (client, listed) = connect(Revision::LATEST, scope, |it| it.with_cache(1 << 20));
        for round in 0..3 {
            // Ten calls, of which nine are saved, over the first 4.5 of 5 seconds.
            for call in 0..10_i64 {
                let (name, ttl) = first(&client).await;
                assert_eq!(name, format!("tool{round}"), "{scope}, {call}");
                assert!(
                    ttl <= 5_000 - call * 500 && ttl > 0,
                    "{scope}, {call}: {ttl}"
                );
                tokio::time::advance(Duration::from_millis(500)).await;
            }
        }
        assert_eq!(listed.load(Ordering::Relaxed), 3, "{scope}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_cache_asks_each_time() {
    let (client, listed) = connect(Revision::LATEST, "public", |it| it);
    for _ in 0..3 {
        first(&client).await;
    }
    assert_eq!(listed.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn private_results_are_not_for_those_whom_a_gateway_calls_for() {
    for (scope, expected) in [("private", 3), ("public", 1)] {
        let (client, listed) = connect(Revision::LATEST, scope, |it| it.with_cache(1 << 20));
        let info = mcp::Implementation::new("other", Version("1"));
        let other = client.on_behalf_of(&info, &mcp::ClientCapabilities::new());
        for client in [&client, &other, &client, &other] {
            first(client).await;
        }
        assert_eq!(listed.load(Ordering::Relaxed), expected, "{scope}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_cache_has_no_room_for_is_asked_for_again() {
    let (client, listed) = connect(Revision::LATEST, "public", |it| it.with_cache(100));
    for _ in 0..3 {
        first(&client).await;
    }
    assert_eq!(listed.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_change_that_a_client_listens_for_ends_the_results_that_it_is_about() {
    let changes = Changes::new();
    let told = changes.clone();
    let listed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&listed);
    let running = Router::new()
        .dynamic_tools(
            move || {
                let number = counted.fetch_add(1, Ordering::Relaxed);
                let page = page(number, "public");
                async move { page }
            },
            |_: mcp::CallToolRequestParams| async { "" },
        )
        .with_changes(&changes)
        .build("example", "1")
        .unwrap();
    let (input, output) = split(served(running));
    let info = mcp::Implementation::new("example", Version("1"));
    let client = Client::builder(&info)
        .with_cache(1 << 20)
        .lines(input, output);
    let filter = mcp::SubscriptionFilter::new().with_tools_list_changed(true);
    let mut stream = client.listen(filter).await.unwrap();
    let before = first(&client).await.0;
    assert_eq!(first(&client).await.0, before);
    told.tools();
    let change = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
    assert!(change.unwrap().is_some());
    assert_ne!(first(&client).await.0, before);
    assert_eq!(listed.load(Ordering::Relaxed), 2);
}
