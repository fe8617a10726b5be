//! Two servers behind one address: nothing depends on which one answers, but a call that one of them has parked.

use mcp_revisions::http::Service;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::serve::Peer;
use mcp_revisions::server::Call;
use serde_json::{Value, json};

use crate::http::{Post, message, server};
use crate::support::handlers;

const KEY: [u8; 32] = [7; 32];

#[tokio::test]
async fn modern_requests_are_answered_alike_by_either() {
    let replicas =
        [0, 1].map(|_| Service::new(server().with_request_state_key(KEY), handlers::handle));
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        (
            "tools/call",
            json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        ),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/call", json!({"name": "no such"})),
    ] {
        let mut answers = Vec::new();
        for replica in &replicas {
            answers.push(message(Post::modern(method, params.clone()).to(replica).await).await);
        }
        assert_eq!(answers[0], answers[1], "{method}");
    }
}

/// Asks for the roots of whoever calls, and says what they are.
async fn curious(call: Call, peer: Peer) -> Result<Json, ErrorObject> {
    if call.method == "tools/list" {
        return Ok(Json::from_text(r#"{"tools":[]}"#).unwrap());
    }
    let roots = peer.ask("roots/list", None).await?;
    let text = json!({"content": [{"type": "text", "text": roots.text()}]});
    Ok(Json::from(text))
}

fn call(params: Value) -> Post {
    let mut post = Post::modern("tools/call", params);
    post.body = post.body.replace(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#,
    );
    post
}

#[tokio::test]
async fn a_call_that_one_has_parked_is_refused_clearly_by_the_other_and_goes_on_at_the_first() {
    let replicas = [0, 1].map(|_| Service::new(server().with_request_state_key(KEY), curious));
    let mut retries = Vec::new();
    // Both park the same request of the same client.
    for replica in &replicas {
        let asked = message(call(json!({"name": "t"})).to(replica).await).await;
        let asked = &asked["result"];
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let name = asked["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        retries.push((name, asked["requestState"].clone()));
    }
    let retry = |index: usize, uri: &str| {
        let (name, state) = &retries[index];
        let responses = json!({name: {"roots": [{"uri": uri}]}});
        call(json!({"name": "t", "requestState": state, "inputResponses": responses}))
    };
    let refused = message(retry(0, "file:///a").to(&replicas[1]).await).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("anew"),
        "{refused}"
    );
    for index in [0, 1] {
        let uri = format!("file:///{index}");
        let answer = message(retry(index, &uri).to(&replicas[index]).await).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&uri), "{answer}");
    }
}
