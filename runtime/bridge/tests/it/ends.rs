//! The end of a gateway: without an open call it is one at once, and an open call has a grace and gets an error after it.

use std::sync::Arc;
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, Gateway, GatewayBuilder, Upstream};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, http};
use serde_json::json;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::outside::{Raw, calls, initialize, within};
use crate::{client, server};

/// Time that open calls over stdio have.
const GRACE: Duration = Duration::from_secs(5);

/// The error of a call that is given up.
const GIVEN_UP: &str = "the bridge has ended before the server answered";

/// A gateway with a server whose tool never answers, and the signal that it was called.
fn silent(builder: GatewayBuilder) -> (Gateway, Arc<Notify>) {
    let called = Arc::new(Notify::new());
    let told = Arc::clone(&called);
    let answer = move |call: IncomingRequest, _: Peer| {
        let told = Arc::clone(&told);
        async move {
            if call.method == "tools/call" {
                told.notify_one();
                return std::future::pending::<Result<Json, ErrorObject>>().await;
            }
            Ok(Json::from(json!({ "tools": [] })))
        }
    };
    let service = http::Service::new(server(Revision::V2025_06_18), answer);
    let gateway = builder.build();
    let bridge = Bridge::new(Upstream::service(service));
    gateway.insert("one", bridge).unwrap();
    (gateway, called)
}

/// A client of a gateway that has opened its session, and what ends the gateway.
async fn opened(gateway: Gateway) -> (Raw, oneshot::Sender<()>) {
    let (stop, stopped) = oneshot::channel();
    let mut raw = Raw::served_by(|input, output| async move {
        let stopped = async { drop(stopped.await) };
        gateway.serve_stdio(input, output, stopped).await
    });
    raw.says(initialize("2025-11-25", &json!({}))).await;
    raw.hears_answer(1).await;
    (raw, stop)
}

/// Ends a gateway by its client or by a signal, which does not come where it is kept.
async fn end(
    raw: &mut Raw,
    stop: oneshot::Sender<()>,
    hangs_up: bool,
) -> Option<oneshot::Sender<()>> {
    if hangs_up {
        raw.hangs_up().await;
        return Some(stop);
    }
    stop.send(()).unwrap();
    None
}

#[tokio::test(start_paused = true)]
async fn a_gateway_without_an_open_call_ends_at_once() {
    for hangs_up in [false, true] {
        let (mut raw, stop) = opened(silent(Gateway::builder()).0).await;
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        raw.says(list).await;
        raw.hears_answer(2).await;
        let began = Instant::now();
        let _kept = end(&mut raw, stop, hangs_up).await;
        within(raw.served).await.unwrap().unwrap();
        assert!(began.elapsed() < GRACE, "hung up: {hangs_up}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_call_has_a_grace_when_its_gateway_ends_and_gets_an_error_after_it() {
    for (hangs_up, is_early) in [(false, false), (true, false), (false, true), (true, true)] {
        let builder = match is_early {
            true => Gateway::builder()
                .with_clients(ClientSettings::new().with_early_end(std::future::ready(()))),
            false => Gateway::builder(),
        };
        let (gateway, called) = silent(builder);
        let (mut raw, stop) = opened(gateway).await;
        raw.says(calls(2, "one_x")).await;
        called.notified().await;
        let began = Instant::now();
        let _kept = end(&mut raw, stop, hangs_up).await;
        let answer = raw.hears_answer(2).await.to_string();
        assert!(answer.contains(GIVEN_UP), "{answer}");
        within(raw.served).await.unwrap().unwrap();
        assert_eq!(
            began.elapsed() < GRACE,
            is_early,
            "hung up: {hangs_up}, {:?}",
            began.elapsed()
        );
    }
}

#[tokio::test]
async fn a_second_signal_ends_the_grace_of_a_gateway_that_listens() {
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let early = std::future::ready(());
        let (gateway, called) =
            silent(Gateway::builder().with_clients(ClientSettings::new().with_early_end(early)));
        let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let (options, stopped) = (http::Options::new(), async { drop(stopped.await) });
            let long = Duration::from_secs(600);
            let service = gateway.service(options).unwrap();
            service.serve(listener, stopped, long).await;
        });
        let client = client(revision).http(Http::new(&url).unwrap());
        let call = Json::from(json!({ "name": "one_x", "arguments": {} }));
        let ends = async {
            called.notified().await;
            stop.send(()).unwrap();
        };
        let call = client.request("tools/call", Some(call));
        let (refused, ()) = within(async { tokio::join!(call, ends) }).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(GIVEN_UP), "{revision}: {refused}");
        drop(client);
        within(served).await.unwrap();
    }
}
