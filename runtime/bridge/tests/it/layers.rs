//! Layers around the messages between clients and the upstream server, and the filter of tools.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_bridge::{Bridge, ToolRules, Upstream};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{Direction, ErrorObject, Json, Map};
use mcp_revisions::sansio::server::{CustomRequest, IncomingRequest};
use mcp_revisions::serve::{Handler, Peer};
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, http};
use serde_json::json;

use crate::{client, in_process, names, server, text};

#[tokio::test]
async fn a_layer_sees_each_call_and_may_answer_it_in_the_place_of_the_server() {
    for upstream in [Revision::V2025_06_18, Revision::LATEST] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let bridge = Bridge::new(in_process(upstream)).with_layer(move |message| {
            let call = (message.method().to_owned(), message.revision());
            noted.lock().unwrap().push(call);
            async move {
                match message.method() {
                    "prompts/list" => Err(ErrorObject::new(-32000, "no prompts today")),
                    _ => message.forward().await,
                }
            }
        });
        let service = bridge.into_service();
        for revision in Revision::NEGOTIATED {
            let client = client(*revision).http(Http::in_process(service.clone()));
            assert_eq!(names(&client).await, ["greet"], "{revision}, {upstream}");
            let refused = client.request("prompts/list", None).await.unwrap_err();
            assert!(
                refused.to_string().contains("no prompts today"),
                "{refused}"
            );
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            let expected =
                ["tools/list", "prompts/list"].map(|method| (method.to_owned(), Some(*revision)));
            assert_eq!(seen, expected, "{revision}, {upstream}");
            client.close().await.unwrap();
        }
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_tool_that_is_filtered_out_is_neither_listed_nor_called() {
    for (is_shown, upstream) in [(true, Revision::LATEST), (false, Revision::V2025_03_26)] {
        let bridge = Bridge::new(in_process(upstream));
        let bridge =
            bridge.with_tool_rules(ToolRules::by(move |name, _| is_shown || name != "greet"));
        let service = bridge.into_service();
        for revision in Revision::NEGOTIATED {
            let client = client(*revision).http(Http::in_process(service.clone()));
            assert_eq!(
                names(&client).await.len(),
                usize::from(is_shown),
                "{revision}"
            );
            match is_shown {
                true => assert!(text(&client, "greet").await.starts_with("hello")),
                false => {
                    let params = Json::from(json!({ "name": "greet", "arguments": {} }));
                    let refused = client.request("tools/call", Some(params)).await;
                    let refused = refused.unwrap_err().to_string();
                    assert!(refused.contains("no tool `greet`"), "{refused}");
                }
            }
            client.close().await.unwrap();
        }
        service.shutdown().await;
    }
}

/// Handlers that report progress, ask for the roots of their client, and answer methods that no revision has.
struct Asks;

impl Handler for Asks {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        if call.method != "tools/call" {
            return crate::greets(call, peer).await;
        }
        let token = call.progress_token.unwrap();
        let progress =
            Map::from_iter([("progressToken", token), ("progress", Json::from(json!(1)))]);
        peer.notify("notifications/progress", Some(&Json::of(&progress)))
            .await;
        let roots = peer.ask("roots/list", None).await?.into_text();
        Ok(Json::from(
            json!({ "content": [{ "type": "text", "text": roots }] }),
        ))
    }

    async fn custom_request(&self, call: CustomRequest, _: Peer) -> Result<Json, ErrorObject> {
        Ok(call.params)
    }
}

fn asks(revision: Revision) -> Upstream {
    let server = server(revision).with_other_methods();
    Upstream::service(http::Service::new(server, Asks))
}

#[tokio::test]
async fn a_layer_sees_questions_progress_and_unknown_methods_of_the_server() {
    for (upstream, revision) in [
        (Revision::V2025_11_25, Revision::V2025_06_18),
        (Revision::LATEST, Revision::V2025_11_25),
        (Revision::V2025_11_25, Revision::LATEST),
    ] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let bridge = Bridge::new(asks(upstream)).with_layer(move |message| {
            let entry = (message.direction(), message.method().to_owned());
            noted.lock().unwrap().push(entry);
            async move {
                match message.method() {
                    "acme/echo" => {
                        let params = Json::from(json!({ "a": 2 }));
                        message.with_params(params).forward().await
                    }
                    "roots/list" => Ok(Json::from(json!({ "roots": [{ "uri": "file:///a" }] }))),
                    _ => message.forward().await,
                }
            }
        });
        let service = bridge.into_service();
        let place = format!("{revision}, {upstream}");
        let capabilities = Json::from(json!({ "roots": {} }));
        let client = client(revision)
            .with_capabilities(&capabilities)
            .with_custom_methods()
            .http(Http::in_process(service.clone()))
            .on_progress(|_| {});
        let said = text(&client, "look").await;
        assert!(said.contains("file:///a"), "{place}: {said}");
        let params = Json::from(json!({ "a": 1 }));
        let echoed = client.request("acme/echo", Some(params)).await.unwrap();
        assert_eq!(echoed.get("a").unwrap().text(), "2", "{place}");
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        for expected in [
            (Direction::ClientToServer, "tools/call"),
            (Direction::ServerToClient, "notifications/progress"),
            (Direction::ServerToClient, "roots/list"),
            (Direction::ClientToServer, "acme/echo"),
        ] {
            let is_there = seen.iter().any(|(to, method)| (*to, &**method) == expected);
            assert!(is_there, "{place}: {expected:?} in {seen:?}");
        }
        client.close().await.unwrap();
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_tool_under_another_name_is_the_same_tool_and_its_own_name_is_gone() {
    let rules = ToolRules::new()
        .rename("greet", "hello")
        .describe("greet", "Says hello");
    let service = Bridge::new(in_process(Revision::V2025_06_18))
        .with_tool_rules(rules)
        .into_service();
    for revision in Revision::NEGOTIATED {
        let client = client(*revision).http(Http::in_process(service.clone()));
        let listed = client.request("tools/list", None).await.unwrap();
        let tool = &listed.parse::<serde_json::Value>().unwrap()["tools"][0];
        assert_eq!(
            (&tool["name"], &tool["description"]),
            (&json!("hello"), &json!("Says hello"))
        );
        assert!(text(&client, "hello").await.starts_with("hello in "));
        let call = Json::from(json!({ "name": "greet", "arguments": {} }));
        let refused = client.request("tools/call", Some(call)).await.unwrap_err();
        assert!(refused.to_string().contains("no tool `greet`"), "{refused}");
        client.close().await.unwrap();
    }
    service.shutdown().await;
}

#[tokio::test]
async fn a_layer_sends_a_call_again_and_learns_the_revision_of_the_server() {
    for upstream in [Revision::V2025_06_18, Revision::LATEST] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let handler = move |call: IncomingRequest, peer: Peer| {
            let is_call = call.method == "tools/call";
            let is_busy = is_call && counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if is_busy {
                    return Err(ErrorObject::new(-32000, "busy"));
                }
                crate::greets(call, peer).await
            }
        };
        let outcomes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&outcomes);
        let service = Upstream::service(http::Service::new(server(upstream), handler));
        let bridge = Bridge::new(service).with_layer(move |message| {
            let (outcome, noted) = (message.outcome(), Arc::clone(&noted));
            async move {
                if message.method() != "tools/call" {
                    return message.forward().await;
                }
                let again = message.clone();
                let result = match message.forward().await {
                    Err(error) if error.message == "busy" => again.forward().await,
                    result => result,
                };
                let outcome = (outcome.revision(), outcome.failure());
                noted.lock().unwrap().push(outcome);
                result
            }
        });
        let service = bridge.into_service();
        for revision in Revision::NEGOTIATED {
            let client = client(*revision).http(Http::in_process(service.clone()));
            assert!(text(&client, "greet").await.starts_with("hello"));
            client.close().await.unwrap();
        }
        service.shutdown().await;
        let count = Revision::NEGOTIATED.len();
        assert_eq!(calls.load(Ordering::Relaxed), count + 1);
        let outcomes = std::mem::take(&mut *outcomes.lock().unwrap());
        assert_eq!(outcomes, vec![(Some(upstream), None); count]);
    }
}
