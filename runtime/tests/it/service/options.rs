//! What a server and a client are told beside their handlers: hooks for losses, unknown fields, limits, custom methods.

use std::sync::{Arc, Mutex};

use mcp_revisions::args::Version;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::service::{Client, Error, McpServer, RequestContext, Router};
use mcp_revisions::{Latest, Lifecycle, Limits, Revision, UnknownFields};
use serde_json::{Value, json};
use tokio::io::split;
use tokio::sync::mpsc;

use crate::service::peer::{Peer, revisions};
use crate::support::served;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    degrees: f64,
}

async fn weather() -> mcp_revisions::service::Json<Weather> {
    mcp_revisions::service::Json(Weather { degrees: 20.5 })
}

fn router() -> McpServer<Latest> {
    let router = Router::new().tool("weather", "Measures.", weather);
    router.build("example", "1").unwrap()
}

fn info() -> mcp::Implementation {
    mcp::Implementation::new("client", Version("1"))
}

#[tokio::test]
async fn a_server_tells_what_its_clients_lose() {
    let lost = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lost);
    let running = router().on_loss(move |lost| {
        let request = lost.request.map(|id| Json::of(id).into_text());
        let what = lost.losses.iter().map(|loss| loss.pointer().to_owned());
        kept.lock()
            .unwrap()
            .push((lost.method.to_owned(), request, what.collect::<Vec<_>>()));
    });
    let mut peer = Peer::connect(Revision::V2024_11_05, served(running)).await;
    peer.result("tools/list", json!({})).await;
    let lost = lost.lock().unwrap();
    let (method, request, what) = &lost[0];
    assert_eq!(
        (method.as_str(), request.as_deref()),
        ("tools/list", Some("2"))
    );
    assert!(
        what.contains(&"/tools/0/outputSchema".to_owned()),
        "{what:?}"
    );
}

#[tokio::test]
async fn fields_that_an_older_client_does_not_know_are_dropped_or_preserved() {
    for (policy, is_there) in [
        (UnknownFields::Drop, false),
        (UnknownFields::Preserve, true),
    ] {
        let running = router().with_unknown_fields(policy);
        let mut peer = Peer::connect(Revision::V2024_11_05, served(running)).await;
        let listed = peer.result("tools/list", json!({})).await;
        let schema = &listed["tools"][0]["outputSchema"];
        assert_eq!(schema.is_object(), is_there, "{policy:?}: {listed}");
    }
}

#[tokio::test]
async fn limits_hold_for_a_server_made_of_functions() {
    for (introduction_bytes, is_refused) in [(10, true), (10 << 10, false)] {
        let limits = Limits {
            max_client_info_bytes: introduction_bytes,
            ..Limits::default()
        };
        let (input, output) = split(served(router().with_limits(limits)));
        let client = Client::builder(&info())
            .with_revisions([Revision::V2025_11_25].into_iter().collect())
            .lines(input, output);
        let listed = client.list_tools(None).await;
        assert_eq!(listed.is_err(), is_refused, "{listed:?}");
    }
}

#[tokio::test]
async fn a_client_tells_what_its_server_loses() {
    let lost = Arc::new(Mutex::new(Vec::new()));
    for revision in [Revision::V2025_03_26, Revision::LATEST] {
        let kept = Arc::clone(&lost);
        let running = Router::new()
            .prompt("greet", "Greets.", || async { "hello" })
            .build_with(
                mcp_revisions::service::Server::new(&info())
                    .with_revisions([revision].into_iter().collect()),
            )
            .unwrap();
        let (input, output) = split(served(running));
        let client = Client::builder(&info())
            .on_loss(move |lost| {
                let of_a_request = lost.request.is_some();
                let call = (lost.method.to_owned(), lost.revision, of_a_request);
                kept.lock().unwrap().push(call);
            })
            .lines(input, output);
        let params = json!({"ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "a", "value": "b"}, "context": {"arguments": {"c": "d"}}});
        let completed = Caller::request(&client, "completion/complete", Some(Json::from(params)));
        completed.await.unwrap();
    }
    let call = (
        "completion/complete".to_owned(),
        Revision::V2025_03_26,
        true,
    );
    assert_eq!(*lost.lock().unwrap(), [call]);
}

/// Answers with what it was asked, and with what a client says who it is that can be asked so.
async fn echo(params: Json, cx: RequestContext<Latest>) -> Result<Json, Error> {
    let mut echoed: Value = params.parse().unwrap();
    if cx.revision().lifecycle() == Lifecycle::Handshake {
        Caller::notification(&cx, "acme/soon", Some(params.clone())).await?;
        let who = Caller::request(&cx, "acme/who", Some(params)).await?;
        echoed["who"] = who.parse().unwrap();
    }
    Ok(Json::from(echoed))
}

#[tokio::test]
async fn custom_methods_reach_their_handlers_at_both_ends() {
    for revision in revisions() {
        let place = format!("{revision}");
        let (heard, mut hears) = mpsc::unbounded_channel();
        let noted = heard.clone();
        let running = router()
            .custom_method("acme/echo", echo)
            .custom_notification("acme/hello", move |params: Json, _| {
                let _ = noted.send(("server", params.into_text()));
                std::future::ready(())
            });
        let (input, output) = split(served(running));
        let client = Client::builder(&info())
            .with_revisions([revision].into_iter().collect())
            .custom_method("acme/who", |_, _| async {
                Ok(Json::from(json!({"name": "Ada"})))
            })
            .custom_notification("acme/soon", move |params: Json, _| {
                let _ = heard.send(("client", params.into_text()));
                std::future::ready(())
            })
            .lines(input, output);
        let params = Json::from(json!({"a": 1}));
        let answer = Caller::request(&client, "acme/echo", Some(params.clone())).await;
        let answer: Value = answer.unwrap().parse().unwrap();
        assert_eq!(answer["a"], 1, "{place}: {answer}");
        if revision.lifecycle() == Lifecycle::Handshake {
            assert_eq!(answer["who"]["name"], "Ada", "{place}");
            let soon = hears.recv().await.unwrap();
            assert_eq!(soon, ("client", r#"{"a":1}"#.to_owned()), "{place}");
        }
        Caller::notification(&client, "acme/hello", Some(params))
            .await
            .unwrap();
        let (end, hello) = hears.recv().await.unwrap();
        assert!(
            end == "server" && hello.contains(r#""a":1"#),
            "{place}: {hello}"
        );
        let other = Caller::request(&client, "acme/other", None)
            .await
            .unwrap_err();
        let Error::Rpc(error) = &other else {
            panic!("{place}: {other:?}")
        };
        assert_eq!(error.code.as_i64(), Some(-32601), "{place}");
    }
}

#[tokio::test]
async fn handlers_of_an_extension_read_what_a_client_of_any_revision_declared() {
    for revision in revisions() {
        let running =
            router().custom_method("acme/see", |params: Json, cx: RequestContext<Latest>| {
                std::future::ready(Ok::<_, Error>(cx.with_declared(&params)))
            });
        let (input, output) = split(served(running));
        let declared = Json::from(json!({"extensions": {"com.example/acme": {"depth": 2}}}));
        let client = Client::builder(&info())
            .with_revisions([revision].into_iter().collect())
            .with_capabilities(&declared)
            .with_custom_methods()
            .lines(input, output);
        for params in [None, Some(json!({"a": 1, "_meta": {"own": true}}))] {
            let sent = params.clone().map(Json::from);
            let seen = Caller::request(&client, "acme/see", sent).await.unwrap();
            let seen: Value = seen.parse().unwrap();
            let meta = &seen["_meta"];
            let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(
                capabilities["extensions"]["com.example/acme"],
                json!({"depth": 2}),
                "{revision} {seen}"
            );
            let version = &meta["io.modelcontextprotocol/protocolVersion"];
            assert!(version.is_string(), "{revision} {seen}");
            let own = params.is_some();
            assert_eq!(
                meta["own"] == true && seen["a"] == 1,
                own,
                "{revision} {seen}"
            );
        }
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_client_without_custom_methods_sends_none() {
    let (input, output) = split(served(router()));
    let client = Client::builder(&info())
        .with_revisions([Revision::V2025_11_25].into_iter().collect())
        .lines(input, output);
    let refused = Caller::request(&client, "acme/echo", None)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::RequestFailed(_)), "{refused:?}");
}

#[tokio::test]
async fn a_hook_for_losses_that_panics_costs_no_answer() {
    let running = router().on_loss(|_| panic!("it slips"));
    let mut peer = Peer::connect(Revision::V2024_11_05, served(running)).await;
    let answer = peer.call("tools/list", json!({}));
    let answer = tokio::time::timeout(std::time::Duration::from_secs(20), answer).await;
    answer.expect("no answer comes").unwrap();
    let running = Router::new()
        .prompt("greet", "Greets.", || async { "hello" })
        .build("example", "1")
        .unwrap();
    let (input, output) = split(served(running));
    let client = Client::builder(&info())
        .with_revisions([Revision::V2025_03_26].into_iter().collect())
        .on_loss(|_| panic!("it slips"))
        .lines(input, output);
    let params = json!({"ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "a", "value": "b"}, "context": {"arguments": {"c": "d"}}});
    let completed = Caller::request(&client, "completion/complete", Some(Json::from(params)));
    completed.await.unwrap();
}
