//! What an application does around the calls of clients.

use std::sync::{Arc, Mutex};

use mcp_bridge::Bridge;
use mcp_revisions::Revision;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::service::client::Http;
use serde_json::json;

use crate::{client, in_process, names, text};

#[tokio::test]
async fn a_hook_sees_each_call_and_may_answer_it_in_the_place_of_the_server() {
    for upstream in [Revision::V2025_06_18, Revision::LATEST] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let bridge = Bridge::new(in_process(upstream)).with_call_hook(move |call| {
            noted.lock().unwrap().push((call.method(), call.revision()));
            async move {
                match call.method() {
                    "prompts/list" => Err(ErrorObject::new(-32000, "no prompts today")),
                    _ => call.forward().await,
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
            let expected = ["tools/list", "prompts/list"].map(|method| (method, *revision));
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
        let bridge = bridge.with_tool_filter(move |name, _| is_shown || name != "greet");
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
