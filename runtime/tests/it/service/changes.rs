//! What changes on a router, as clients of every revision hear it.

use std::time::Duration;

use mcp_revisions::http::Options;
use mcp_revisions::service::Router;
use mcp_revisions::service::router::Changes;
use mcp_revisions::{Lifecycle, Limits, Revision};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http::{Post, message};
use crate::service::peer::{Peer, revisions};
use crate::support::served;

const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

async fn peer(revision: Revision, router: Router) -> Peer {
    limited(revision, router, Limits::default()).await
}

async fn limited(revision: Revision, router: Router, limits: Limits) -> Peer {
    let running = router.build("example", "1").unwrap().with_limits(limits);
    Peer::connect(revision, served(running)).await
}

fn router(changes: &Changes) -> Router {
    let router = Router::new().with_changes(changes);
    router
        .tool("a", "", || async { "a" })
        .resource("example://a", "a", || async { "a" })
        .resource("example://b", "b", || async { "b" })
}

/// Listens to the tools and to one resource, as its revision does.
async fn listens(peer: &mut Peer, revision: Revision) -> Option<Value> {
    if revision.lifecycle() == Lifecycle::Handshake {
        let watched = json!({"uri": "example://a"});
        peer.result("resources/subscribe", watched).await;
        return None;
    }
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["example://a"]});
    peer.begins("subscriptions/listen", json!({"notifications": wanted}))
        .await;
    let acknowledged = peer.hears(ACKNOWLEDGED).await;
    Some(acknowledged["params"]["notifications"].clone())
}

#[tokio::test]
async fn a_client_hears_what_it_listens_to_and_nothing_else() {
    for revision in revisions() {
        let changes = Changes::new();
        let mut peer = peer(revision, router(&changes)).await;
        // What the server does not have is not promised.
        let granted = json!({"toolsListChanged": true, "resourceSubscriptions": ["example://a"]});
        let said = listens(&mut peer, revision).await;
        assert!(said.is_none_or(|said| said == granted), "{revision}");
        // It is taken up once the call before has been answered.
        peer.result("tools/list", json!({})).await;
        changes.prompts();
        changes.resource("example://b");
        changes.resource("example://a");
        changes.tools();
        let updated = peer.hears(UPDATED).await;
        assert_eq!(updated["params"]["uri"], "example://a", "{revision}");
        peer.hears(TOOLS).await;
        assert!(peer.told.is_empty(), "{revision}: {:?}", peer.told);
    }
}

#[tokio::test]
async fn a_client_that_missed_something_hears_that_all_may_have_changed() {
    let revision = Revision::LATEST;
    let changes = Changes::new();
    let mut peer = peer(revision, router(&changes)).await;
    listens(&mut peer, revision).await;
    // More than is kept, while nobody else runs on this thread.
    for _ in 0..1_000 {
        changes.resource("example://b");
    }
    peer.hears(TOOLS).await;
    peer.hears(UPDATED).await;
    assert!(peer.told.is_empty(), "{:?}", peer.told);
}

#[tokio::test]
async fn a_client_listens_to_as_many_resources_as_the_server_lets_it() {
    let limits = Limits {
        max_subscriptions: 1,
        ..Limits::default()
    };
    for revision in revisions() {
        let mut peer = limited(revision, router(&Changes::new()), limits).await;
        let refused = match revision.lifecycle() {
            Lifecycle::Handshake => {
                let watched = |uri| ("resources/subscribe", json!({"uri": uri}));
                let (method, params) = watched("example://a");
                peer.result(method, params).await;
                let (method, params) = watched("example://b");
                peer.call(method, params).await.unwrap_err()
            }
            Lifecycle::PerRequest => {
                let both = json!({"resourceSubscriptions": ["example://a", "example://b"]});
                let wanted = json!({"notifications": both});
                // One that is taken has no answer.
                let called = peer.call("subscriptions/listen", wanted);
                let answered = timeout(Duration::from_secs(10), called).await;
                answered.unwrap().unwrap_err()
            }
        };
        let told = refused["message"].as_str().unwrap();
        assert!(
            told.contains("1 subscriptions are open"),
            "{revision}: {refused}"
        );
    }
}

#[tokio::test]
async fn a_router_without_changes_promises_none() {
    for revision in revisions() {
        let mut peer = peer(
            revision,
            Router::new().resource("example://a", "a", || async { "" }),
        )
        .await;
        let (method, params) = match revision.lifecycle() {
            Lifecycle::Handshake => ("resources/subscribe", json!({"uri": "example://a"})),
            Lifecycle::PerRequest => ("subscriptions/listen", json!({"notifications": {}})),
        };
        let refused = peer.call(method, params).await.unwrap_err();
        assert_eq!(refused["code"], -32601, "{revision}: {refused}");
    }
}

#[tokio::test]
async fn a_server_with_tasks_takes_up_subscriptions_and_tells_of_each_change_once() {
    for revision in revisions().filter(|it| it.lifecycle() == Lifecycle::Handshake) {
        let changes = Changes::new();
        let router = router(&changes).tool("task", "", || async { "done" });
        let mut peer = peer(revision, router.as_task()).await;
        for uri in ["example://a", "example://b"] {
            let subscribed = peer.call("resources/subscribe", json!({"uri": uri}));
            let subscribed = timeout(Duration::from_secs(5), subscribed).await;
            subscribed.expect("it is taken up at once").unwrap();
        }
        // What a stream before this one says late shows in the second round.
        for _ in 0..2 {
            changes.tools();
            changes.resource("example://a");
            changes.resource("example://b");
            peer.hears(TOOLS).await;
            for uri in ["example://a", "example://b"] {
                let updated = peer.hears(UPDATED).await;
                assert_eq!(updated["params"]["uri"], uri, "{revision}");
            }
            assert!(peer.told.is_empty(), "{revision}: {:?}", peer.told);
        }
    }
}

#[tokio::test]
async fn a_subscription_outside_of_a_session_is_refused_as_a_method_that_is_not_there() {
    let server = router(&Changes::new()).build("example", "1").unwrap();
    let options = Options::new().without_sessions();
    let service = server.into_http_service(options);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let params = json!({"uri": "example://a"});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let post = Post::of(&request).with("MCP-Protocol-Version", "2025-06-18");
        let refused = message(post.to(&service).await).await;
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
}
