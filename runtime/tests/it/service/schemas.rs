//! Schemas derived from types, before an independent judge: they allow what the types read, and nothing else that is tried.

use std::collections::BTreeMap;

use mcp_revisions::Revision;
use mcp_revisions::service::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::service::peer::Peer;
use crate::support::served;

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: u32,
    lines: Vec<Line>,
    note: Option<String>,
    labels: BTreeMap<String, bool>,
    paid: Paid,
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
struct Line {
    article: String,
    count: u8,
    parts: Vec<Line>,
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Paid {
    Card { last_digits: String },
    Cash,
}

async fn order(order: Order) -> Json<Order> {
    Json(order)
}

#[tokio::test]
async fn what_a_schema_allows_is_what_its_type_reads() {
    let running = Router::new()
        .tool("order", "Orders.", order)
        .build("x", "1")
        .unwrap();
    let mut peer = Peer::connect(Revision::LATEST, served(running)).await;
    let tools = peer.result("tools/list", json!({})).await;
    let tool = &tools["tools"][0];
    let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
    let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    let good = json!({
        "orderId": 7, "labels": {"new": true}, "paid": {"by": "card", "last_digits": "42"},
        "lines": [{"article": "a", "count": 1, "parts": [{"article": "b", "count": 255, "parts": []}]}],
    });
    let mut cases = vec![good.clone()];
    for (pointer, value) in [
        ("/orderId", json!(-1)),
        ("/orderId", json!("7")),
        ("/lines", json!({})),
        ("/lines/0/count", json!(256)),
        ("/lines/0/parts/0/article", json!(null)),
        ("/labels/new", json!("yes")),
        ("/paid", json!({"by": "cash"})),
        ("/paid", json!({"by": "card"})),
        ("/paid/by", json!("cheque")),
    ] {
        let mut case = good.clone();
        *case.pointer_mut(pointer).unwrap() = value;
        cases.push(case);
    }
    cases.push(json!({"note": null}));
    let mut read = 0;
    for case in cases {
        let answer = peer
            .result("tools/call", json!({"name": "order", "arguments": case}))
            .await;
        let is_read = answer["isError"] != true;
        assert_eq!(input.is_valid(&case), is_read, "{case}: {answer:?}");
        if is_read {
            let content = &answer["structuredContent"];
            assert!(output.is_valid(content), "{content}");
            read += 1;
        }
    }
    assert_eq!(read, 2);
}
