//! Handlers of the generated traits, of one revision, behind any transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_revisions::service::{Error, RequestContext, Server};
use mcp_revisions::{
    Lifecycle, Limits, Revision,
    core::{V2025_06_18, v2025_06_18 as mcp},
};
use serde_json::json;
use tokio::sync::mpsc;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::service::peer::{Peer, revisions};
use crate::service::trace::Lines;
use crate::support::served;

struct Adder;

impl mcp::ServerHandlers<RequestContext<V2025_06_18>> for Adder {
    async fn call_tool(
        &self,
        params: mcp::CallToolRequestParams,
        cx: RequestContext<V2025_06_18>,
    ) -> Result<mcp::CallToolResult, Error> {
        let text = format!("{} for {}", params.name, cx.revision());
        Ok(mcp::CallToolResult::new(vec![
            mcp::TextContent::new(text).into(),
        ]))
    }
}

/// A server whose resources can be subscribed to.
struct Watched;

impl mcp::ServerHandlers<RequestContext<V2025_06_18>> for Watched {
    async fn subscribe(
        &self,
        _: mcp::SubscribeRequestParams,
        _: RequestContext<V2025_06_18>,
    ) -> Result<mcp::EmptyResult, Error> {
        Ok(mcp::EmptyResult::new())
    }
}

/// A server that never comes to an end with what it takes note of.
#[derive(Clone, Default)]
pub(crate) struct Slow(pub(crate) Arc<AtomicUsize>);

impl mcp::ServerHandlers<RequestContext<V2025_06_18>> for Slow {
    async fn list_tools(
        &self,
        _: mcp::ListToolsRequestParams,
        _: RequestContext<V2025_06_18>,
    ) -> Result<mcp::ListToolsResult, Error> {
        Ok(mcp::ListToolsResult::new(Vec::new()))
    }

    async fn roots_list_changed(
        &self,
        _: mcp::RootsListChangedNotificationParams,
        _: RequestContext<V2025_06_18>,
    ) {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }
}

/// A server that would answer notifications with tasks.
struct Eager(mpsc::UnboundedSender<Result<bool, Error>>);

impl mcp::ServerHandlers<RequestContext<V2025_06_18>> for Eager {
    async fn roots_list_changed(
        &self,
        _: mcp::RootsListChangedNotificationParams,
        cx: RequestContext<V2025_06_18>,
    ) {
        let _ = self.0.send(cx.start_task().await);
    }
}

fn info() -> mcp::Implementation {
    mcp::Implementation::new("adder", mcp_revisions::args::Version("1.0.0"))
}

#[tokio::test]
async fn handlers_of_one_revision_serve_every_peer() {
    for revision in revisions() {
        let running = Server::<V2025_06_18>::new(&info()).build(Adder).unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        let result = peer.result("tools/call", json!({"name": "add"})).await;
        assert_eq!(result["content"][0]["text"], format!("add for {revision}"));
        let error = peer.call("prompts/list", json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32601, "{revision}");
    }
}

#[tokio::test]
async fn whoever_says_more_than_is_taken_note_of_is_not_heard_and_an_operator_is_told() {
    let dropped = Lines::new("a notification was dropped", "method");
    let subscriber = tracing_subscriber::registry().with(dropped.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let slow = Slow::default();
    let limits = Limits {
        max_pending_bytes: 10 << 10,
        ..Limits::default()
    };
    let server = Server::<V2025_06_18>::new(&info());
    let running = server.build(slow.clone()).unwrap().with_limits(limits);
    let mut peer = Peer::connect(Revision::V2025_06_18, served(running)).await;
    for _ in 0..100 {
        peer.says("notifications/roots/list_changed").await;
    }
    // Calls are answered all the while.
    peer.result("tools/list", json!({})).await;
    // Each takes up a little more than a kibibyte.
    assert_eq!(slow.0.load(Ordering::Relaxed), 9);
    let dropped = dropped.values.lock().unwrap();
    let is_told = dropped
        .iter()
        .any(|method| method == "notifications/roots/list_changed");
    assert!(is_told, "{dropped:?}");
}

#[tokio::test]
async fn a_notification_becomes_no_task() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = Server::<V2025_06_18>::new(&info());
    let running = server.build(Eager(tell)).unwrap();
    let mut peer = Peer::connect(Revision::V2025_06_18, served(running)).await;
    peer.says("notifications/roots/list_changed").await;
    assert_eq!(told.recv().await, Some(Ok(false)));
}

#[tokio::test]
async fn capabilities_are_what_is_implemented() {
    let running = Server::<V2025_06_18>::new(&info()).build(Watched).unwrap();
    let latest = Revision::LATEST;
    let mut peer = Peer::connect(latest, served(running)).await;
    let found = peer.result("server/discover", json!({})).await;
    assert_eq!(
        found["capabilities"],
        json!({"logging": {}, "resources": {"subscribe": true}})
    );
}

/// A server of the latest revision that lists resources and delivers their changes.
struct Listened;

impl mcp_revisions::latest::ServerHandlers<RequestContext<mcp_revisions::Latest>> for Listened {
    async fn list_resources(
        &self,
        _: mcp_revisions::latest::PaginatedRequestParams,
        _: RequestContext<mcp_revisions::Latest>,
    ) -> Result<mcp_revisions::latest::ListResourcesResult, Error> {
        Ok(mcp_revisions::latest::ListResourcesResult::new(Vec::new()))
    }

    async fn subscriptions_listen(
        &self,
        _: mcp_revisions::latest::SubscriptionsListenRequestParams,
        _: RequestContext<mcp_revisions::Latest>,
    ) -> Result<mcp_revisions::latest::SubscriptionsListenResult, Error> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_server_that_listens_to_subscriptions_declares_the_changes_that_it_delivers() {
    for revision in revisions() {
        let running = Server::<mcp_revisions::Latest>::new(&info());
        let running = running.build(Listened).unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        let found = match revision.lifecycle() {
            Lifecycle::Handshake => peer.opened.clone(),
            Lifecycle::PerRequest => peer.result("server/discover", json!({})).await,
        };
        assert_eq!(
            found["capabilities"],
            json!({"logging": {}, "resources": {"listChanged": true, "subscribe": true}}),
            "{revision}"
        );
    }
}

#[test]
fn a_capability_that_nobody_handles_is_refused() {
    let capabilities =
        mcp::ServerCapabilities::new().with_prompts(mcp::ServerCapabilitiesPrompts::new());
    let server = Server::<V2025_06_18>::new(&info()).with_capabilities(&capabilities);
    let why = server.build(Adder).unwrap_err().to_string();
    assert_eq!(
        why,
        "the capability `prompts` is declared, and none of its methods is handled: prompts/get, prompts/list"
    );
}

/// A server that repeats the `_meta` of a call and the names of its arguments, and says what it was told of roots.
struct Echo(mpsc::UnboundedSender<String>);

impl mcp::ServerHandlers<RequestContext<V2025_06_18>> for Echo {
    async fn call_tool(
        &self,
        params: mcp::CallToolRequestParams,
        cx: RequestContext<V2025_06_18>,
    ) -> Result<mcp::CallToolResult, Error> {
        if params.name == "refuses" {
            let _ = self.0.send("called".to_owned());
            return Err(Error::application(-32602, "not today"));
        }
        let text = format!(
            "{:?} {:?}",
            cx.meta().map(|it| it.to_string()),
            params.arguments.is_some()
        );
        Ok(mcp::CallToolResult::new(vec![
            mcp::TextContent::new(text).into(),
        ]))
    }

    async fn roots_list_changed(
        &self,
        _: mcp::RootsListChangedNotificationParams,
        _: RequestContext<V2025_06_18>,
    ) {
        let _ = self.0.send("roots".to_owned());
    }
}

/// Converting is no stricter than passing through, and so is a handler of the client's own revision.
#[tokio::test]
async fn a_mistake_of_a_client_of_the_handlers_revision_costs_one_part_as_of_any_other() {
    let (heard, mut notes) = mpsc::unbounded_channel();
    let (tell, mut told) = mpsc::unbounded_channel();
    let tells = tell.clone();
    let running = Server::<V2025_06_18>::new(&info())
        .build(Echo(heard))
        .unwrap()
        .on_loss(move |lost| {
            let pointers = lost.losses.iter().map(|loss| loss.pointer());
            let all = pointers.collect::<Vec<_>>().join(" ");
            let _ = tell.send(format!("{} {all}", lost.method));
        })
        .on_mistake(move |mistake| drop(tells.send(mistake.to_string())));
    let mut peer = Peer::connect(Revision::V2025_06_18, served(running)).await;
    for (params, text, pointer) in [
        (
            json!({"name": "x", "_meta": []}),
            "Some(\"{}\") false",
            "/_meta",
        ),
        (
            json!({"name": "x", "arguments": []}),
            "None true",
            "/arguments",
        ),
        (json!({"name": "x", "arguments": null}), "None false", ""),
    ] {
        let result = peer.result("tools/call", params.clone()).await;
        assert_eq!(result["content"][0]["text"], text, "{params}");
        if !pointer.is_empty() {
            let line = told.recv().await.unwrap();
            assert_eq!(line, format!("tools/call {pointer}"), "{params}");
        }
    }
    // A call that would do something else is refused as before, and an error of a handler is no reason to call it again.
    for params in [json!({"name": 5}), json!({"name": "x", "arguments": "all"})] {
        let error = peer.call("tools/call", params.clone()).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{params}: {error}");
    }
    let refused = json!({"name": "refuses"});
    let error = peer.call("tools/call", refused).await.unwrap_err();
    assert_eq!(error["message"], "not today");
    assert_eq!(notes.recv().await.unwrap(), "called");

    let method = "notifications/roots/list_changed";
    peer.notify(method, json!({"_meta": []})).await;
    assert_eq!(notes.recv().await.unwrap(), "roots");
    assert_eq!(told.recv().await.unwrap(), format!("{method} /_meta"));
    peer.notify(method, json!([1])).await;
    let line = told.recv().await.unwrap();
    assert!(line.contains(method), "{line}");
    assert!(notes.try_recv().is_err(), "the handler ran once");
}
