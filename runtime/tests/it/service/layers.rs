//! Layers around the messages of a router, a server and a client, in both directions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::args::Version;
use mcp_revisions::latest::{self as mcp, CallServer, ServerHandlers};
use mcp_revisions::layer::LayerMessage;
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::mcp_wire::{Direction, ErrorObject, Json};
use mcp_revisions::service::client::ClientBuilder;
use mcp_revisions::service::{Client, Error, RequestContext, Router, Server};
use mcp_revisions::{Latest, Lifecycle, Revision};
use serde_json::{Value, json};
use tokio::io::{duplex, split};

use crate::service::peer::{Peer, revisions};
use crate::support::served;

/// The messages that a layer has seen: the receiver, and the method.
type Seen = Arc<Mutex<Vec<String>>>;

/// Notes the messages that pass.
fn note(
    seen: &Seen,
) -> impl Fn(LayerMessage) -> std::pin::Pin<Box<dyn Future<Output = Result<Json, ErrorObject>> + Send>>
+ Send
+ Sync
+ 'static {
    let seen = Arc::clone(seen);
    move |message| {
        let to = match message.direction() {
            Direction::ClientToServer => "server",
            Direction::ServerToClient => "client",
        };
        seen.lock()
            .unwrap()
            .push(format!("{to} {}", message.method()));
        Box::pin(message.forward())
    }
}

fn taken(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut *seen.lock().unwrap())
}

fn info() -> mcp::Implementation {
    mcp::Implementation::new("client", Version("1"))
}

fn client(revision: Revision) -> ClientBuilder<Latest, ()> {
    Client::builder(&info()).with_revisions([revision].into_iter().collect())
}

/// Reports progress, asks for the roots of its client, and sends what its params say back.
async fn look(cx: RequestContext<Latest>) -> Result<String, Error> {
    cx.progress(1, 2).await;
    let roots = Caller::request(&cx, "roots/list", None).await?;
    Ok(roots.into_text())
}

fn router() -> Router {
    Router::new().tool("look", "Looks.", look)
}

#[tokio::test]
async fn a_layer_of_a_router_sees_requests_questions_and_progress_of_every_revision() {
    for revision in revisions() {
        let seen = Seen::default();
        let running = router()
            .with_layer(note(&seen))
            .build("example", "1")
            .unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        peer.answers = vec![json!({"roots": [{"uri": "file:///a"}]})];
        let params = json!({"name": "look", "arguments": {}, "_meta": {"progressToken": 7}});
        let result = peer.result("tools/call", params).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("file:///a"), "{revision}: {result}");
        let seen = taken(&seen);
        for expected in [
            "server tools/call",
            "client notifications/progress",
            "client roots/list",
        ] {
            assert!(
                seen.iter().any(|it| it == expected),
                "{revision}: {expected} in {seen:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_layer_of_a_router_rewrites_what_the_handler_and_the_client_get() {
    for revision in revisions() {
        let running = router().with_layer(|message| async move {
            let message = match message.method() {
                "tools/call" => {
                    let params = message.read::<mcp::CallToolRequestParams>();
                    let mut params = params.unwrap();
                    params.name = "look".to_owned();
                    message.with_params(Json::of(&params))
                }
                "notifications/progress" => {
                    let mut params: Value = message.params().parse().unwrap();
                    params["message"] = json!("rewritten");
                    message.with_params(Json::from(params))
                }
                _ => message,
            };
            let method = message.method().to_owned();
            let result = message.forward().await?;
            if method != "roots/list" {
                return Ok(result);
            }
            Ok(Json::from(json!({"roots": [{"uri": "file:///rewritten"}]})))
        });
        let running = running.build("example", "1").unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        peer.answers = vec![json!({"roots": []})];
        let params = json!({"name": "other", "arguments": {}, "_meta": {"progressToken": 7}});
        let result = peer.result("tools/call", params).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("file:///rewritten"), "{revision}: {result}");
        let progress = (peer.told.iter()).find(|it| it["method"] == "notifications/progress");
        let progress = progress.unwrap();
        // 2024-11-05 has no message of progress.
        if revision != Revision::V2024_11_05 {
            assert_eq!(
                progress["params"]["message"], "rewritten",
                "{revision}: {progress}"
            );
        }
    }
}

struct Lists;

impl ServerHandlers<RequestContext<Latest>> for Lists {
    async fn list_tools(
        &self,
        _: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<mcp::ListToolsResult, Error> {
        Ok(mcp::ListToolsResult::new(Vec::new()))
    }
}

#[tokio::test]
async fn layers_of_a_server_are_entered_in_their_order_and_one_refuses_for_the_handlers() {
    for revision in revisions() {
        let (outer, inner) = (Seen::default(), Seen::default());
        let running = Server::<Latest>::new(&info()).build(Lists).unwrap();
        let running = running
            .with_layer(note(&outer))
            .with_layer(|message| async move {
                match message.method() {
                    "acme/closed" => Err(ErrorObject::new(-32000, "closed today")),
                    _ => message.forward().await,
                }
            })
            .with_layer(note(&inner))
            .custom_method("acme/closed", |params, _| async { Ok(params) })
            .custom_method("acme/open", |params, _| async { Ok(params) });
        let mut peer = Peer::connect(revision, served(running)).await;
        let refused = peer.call("acme/closed", json!({"a": 1})).await.unwrap_err();
        assert_eq!(refused["message"], "closed today", "{revision}");
        let answer = peer.result("acme/open", json!({"a": 1})).await;
        assert_eq!(answer["a"], 1, "{revision}");
        peer.result("tools/list", json!({})).await;
        let all = [
            "server acme/closed",
            "server acme/open",
            "server tools/list",
        ];
        let of = |seen: &Seen| -> Vec<String> {
            let seen = taken(seen).into_iter();
            seen.filter(|it| !it.contains("notifications/")).collect()
        };
        assert_eq!(of(&outer), all, "{revision}");
        assert_eq!(of(&inner), all[1..], "{revision}");
    }
}

#[tokio::test]
async fn a_notification_that_a_layer_holds_back_reaches_no_handler_and_no_client() {
    for revision in revisions() {
        let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
        let running = Server::<Latest>::new(&info()).build(Lists).unwrap();
        let running = running
            .with_layer(|message| async move {
                let is_held = message.params().get("held").is_some();
                if is_held && !message.is_request() {
                    return Ok(Json::default());
                }
                // A layer that waits keeps the message until then.
                tokio::task::yield_now().await;
                message.forward().await
            })
            .custom_notification("acme/note", move |params: Json, _| {
                let _ = heard.send(params.into_text());
                std::future::ready(())
            })
            .custom_method("acme/echo", |params: Json, cx| async move {
                for held in [json!({"held": 1}), json!({"free": 1})] {
                    Caller::notification(&cx, "acme/back", Some(Json::from(held))).await?;
                }
                Ok(params)
            });
        let (back, mut backs) = tokio::sync::mpsc::unbounded_channel();
        let (input, output) = split(served(running));
        let client = client(revision)
            .custom_notification("acme/back", move |params: Json, _| {
                let _ = back.send(params.into_text());
                std::future::ready(())
            })
            .lines(input, output);
        Caller::request(&client, "acme/echo", None).await.unwrap();
        for params in [json!({"held": 1}), json!({"free": 1})] {
            let sent = Caller::notification(&client, "acme/note", Some(Json::from(params)));
            sent.await.unwrap();
        }
        let first = tokio::time::timeout(Duration::from_secs(20), hears.recv()).await;
        let first = first.unwrap().unwrap();
        assert!(first.contains("free"), "{revision}: {first}");
        if revision.lifecycle() == Lifecycle::Handshake {
            let first = tokio::time::timeout(Duration::from_secs(20), backs.recv()).await;
            let first = first.unwrap().unwrap();
            assert!(first.contains("free"), "{revision}: {first}");
        }
    }
}

#[tokio::test]
async fn a_layer_of_a_client_sees_rewrites_and_answers_messages_in_both_directions() {
    for revision in revisions() {
        let seen = Seen::default();
        let running = router().build("example", "1").unwrap();
        let (input, output) = split(served(running));
        let progressed = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&progressed);
        let client = client(revision)
            .with_capabilities(&Json::from(json!({"roots": {}})))
            .with_layer(note(&seen))
            .with_layer(|message| async move {
                match message.method() {
                    // The client has no handler of it.
                    "roots/list" => Ok(Json::from(json!({"roots": [{"uri": "file:///a"}]}))),
                    "prompts/list" => Err(ErrorObject::new(-32000, "closed today")),
                    "notifications/progress" => {
                        let mut params: Value = message.params().parse().unwrap();
                        params["progress"] = json!(9);
                        message.with_params(Json::from(params)).forward().await
                    }
                    _ => message.forward().await,
                }
            })
            .lines(input, output)
            .on_progress(move |progress| noted.lock().unwrap().push(progress.done));
        let result = client
            .call_tool(mcp::CallToolRequestParams::new("look"))
            .await
            .unwrap();
        let result = Json::of(&result).into_text();
        assert!(result.contains("file:///a"), "{revision}: {result}");
        assert!(progressed.lock().unwrap().contains(&9.0), "{revision}");
        let refused = client.list_prompts(None).await.unwrap_err();
        assert!(matches!(&refused, Error::Rpc(error) if error.message == "closed today"));
        let seen = taken(&seen);
        for expected in [
            "server tools/call",
            "client notifications/progress",
            "client roots/list",
            "server prompts/list",
        ] {
            assert!(
                seen.iter().any(|it| it == expected),
                "{revision}: {expected} in {seen:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_layer_sends_a_request_again_at_a_server_and_at_a_client_which_learns_what_became_of_it()
{
    for revision in revisions() {
        let (calls, outcomes) = (Seen::default(), Seen::default());
        let (handled, noted) = (Arc::clone(&calls), Arc::clone(&outcomes));
        let twice = |message: LayerMessage| async move {
            let again = message.clone();
            match message.method() {
                "tools/call" => message.forward().await.and(again.forward().await),
                _ => message.forward().await,
            }
        };
        let count = move || {
            handled.lock().unwrap().push("called".to_owned());
            std::future::ready("done")
        };
        let running = Router::new().tool("count", "Counts.", count);
        let running = running.with_layer(twice).build("example", "1").unwrap();
        let (input, output) = split(served(running));
        let client = client(revision)
            .with_layer(move |message| {
                let (outcome, noted) = (message.outcome(), Arc::clone(&noted));
                async move {
                    let before = outcome.revision();
                    let result = message.forward().await;
                    let after = (outcome.revision(), outcome.failure());
                    noted.lock().unwrap().push(format!("{before:?} {after:?}"));
                    result
                }
            })
            .with_layer(twice)
            .lines(input, output);
        let call = mcp::CallToolRequestParams::new("count");
        client.call_tool(call).await.unwrap();
        assert_eq!(taken(&calls).len(), 4, "{revision}");
        let expected = format!("None {:?}", (Some(revision), None::<Error>));
        assert_eq!(taken(&outcomes), [expected], "{revision}");
    }
}

#[tokio::test]
async fn a_layer_of_a_client_learns_why_no_answer_has_arrived() {
    let (near, far) = duplex(1 << 10);
    drop(far);
    let (input, output) = split(near);
    let (note, noted) = std::sync::mpsc::channel();
    let client = Client::builder(&info())
        .with_layer(move |message| {
            let (outcome, note) = (message.outcome(), note.clone());
            async move {
                let result = message.forward().await;
                note.send((outcome.revision(), outcome.failure())).unwrap();
                result
            }
        })
        .lines(input, output);
    let failed = client.list_tools(None).await.unwrap_err();
    assert_eq!(noted.recv().unwrap(), (None, Some(failed)));
}

#[tokio::test]
async fn an_error_of_the_connection_is_the_same_with_a_layer() {
    let (near, far) = duplex(1 << 10);
    drop(far);
    let (input, output) = split(near);
    let client = Client::builder(&info())
        .with_layer(|message| message.forward())
        .lines(input, output);
    let failed = client.list_tools(None).await.unwrap_err();
    assert!(!matches!(failed, Error::Rpc(_)), "{failed:?}");
}

#[tokio::test]
async fn a_layer_that_panics_costs_its_message_only() {
    let running = router().with_layer(|message| async move {
        match message.method() {
            "tools/call" | "notifications/cancelled" => panic!("it slips"),
            _ => message.forward().await,
        }
    });
    let running = running.build("example", "1").unwrap();
    let mut peer = Peer::connect(Revision::V2025_11_25, served(running)).await;
    peer.call("tools/call", json!({"name": "look"}))
        .await
        .unwrap_err();
    peer.says("notifications/cancelled").await;
    peer.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn a_layer_of_a_client_that_panics_before_it_waits_costs_its_message_only() {
    for revision in revisions() {
        let (input, output) = split(served(router().build("example", "1").unwrap()));
        let client = client(revision)
            .with_capabilities(&Json::from(json!({"roots": {}})))
            .with_layer(|message| {
                assert!(message.method() != "roots/list", "it slips");
                message.forward()
            })
            .lines(input, output);
        let look = client.call_tool(mcp::CallToolRequestParams::new("look"));
        let looked = tokio::time::timeout(Duration::from_secs(20), look).await;
        let looked = looked.expect("no answer comes");
        assert!(looked.is_err() || looked.is_ok_and(|it| it.is_error == Some(true)));
        client.list_tools(None).await.unwrap();
    }
}
