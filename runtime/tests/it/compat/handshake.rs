//! A client of the handshake lifecycle, as its revision has it.

use serde_json::{Value, json};

use crate::compat::handlers::FILE;
use crate::compat::wire::Wire;

pub(crate) async fn all(wire: &mut Wire, version: &str) {
    // What a revision does not have, its client does not do.
    let elicits = version >= "2025-06-18";
    open(wire, version, elicits).await;
    wire.open_stream();
    let sum = call(wire, 1, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(text(&sum), "3", "{}", wire.place);
    questions(wire, elicits).await;
    subscription(wire).await;
    notices(wire).await;
    cancellation(wire).await;
}

pub(crate) async fn open(wire: &mut Wire, version: &str, elicits: bool) {
    let mut capabilities = json!({"roots": {}, "sampling": {}});
    if elicits {
        capabilities["elicitation"] = json!({});
    }
    wire.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}}))
        .await;
    let answer = wire.answer(0).await;
    assert_eq!(
        answer["result"]["protocolVersion"], version,
        "{}",
        wire.place
    );
    wire.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
}

pub(crate) async fn start(wire: &mut Wire, id: i64, name: &str, arguments: Value) {
    let params =
        json!({"name": name, "arguments": arguments, "_meta": {"progressToken": format!("p{id}")}});
    wire.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
        .await;
}

async fn call(wire: &mut Wire, id: i64, name: &str, arguments: Value) -> Value {
    start(wire, id, name, arguments).await;
    wire.answer(id).await
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

async fn questions(wire: &mut Wire, elicits: bool) {
    for (id, (what, method, answer)) in (10..).zip(super::questions_and_answers()) {
        start(wire, id, "ask", json!({"what": what})).await;
        if what == "elicit" && !elicits {
            let refused = wire.answer(id).await;
            assert!(
                refused["error"]["code"].is_i64(),
                "{}: {refused}",
                wire.place
            );
            continue;
        }
        let asked = wire.method(method).await;
        wire.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}))
            .await;
        let done = wire.answer(id).await;
        let heard: Value = serde_json::from_str(text(&done)).unwrap();
        for (name, value) in answer.as_object().unwrap() {
            let (heard, value) = (&heard[name], value);
            let same = heard == value || heard == &json!([value]);
            assert!(same, "{}: {what}: {heard} for {value}", wire.place);
        }
    }
    // A client that refuses ends its own call, and nothing waits.
    start(wire, 19, "ask", json!({"what": "roots"})).await;
    let asked = wire.method("roots/list").await;
    let no = json!({"code": -32603, "message": "no roots today"});
    wire.send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": no}))
        .await;
    let done = wire.answer(19).await;
    assert_eq!(done["error"]["message"], "no roots today", "{}", wire.place);
}

async fn subscription(wire: &mut Wire) {
    let params = json!({"uri": FILE});
    wire.send(
        json!({"jsonrpc": "2.0", "id": 20, "method": "resources/subscribe", "params": params}),
    )
    .await;
    assert_eq!(wire.answer(20).await["result"], json!({}), "{}", wire.place);
    // The handlers take it up in a task of their own.
    call(wire, 24, "watched", json!({"count": 1})).await;
    call(wire, 21, "touch", json!({})).await;
    let updated = wire.method("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], FILE);
    assert!(!updated.to_string().contains("subscriptionId"), "{updated}");
    call(wire, 22, "change", json!({})).await;
    wire.method("notifications/tools/list_changed").await;
    let params = json!({"uri": FILE});
    wire.send(
        json!({"jsonrpc": "2.0", "id": 23, "method": "resources/unsubscribe", "params": params}),
    )
    .await;
    assert_eq!(wire.answer(23).await["result"], json!({}), "{}", wire.place);
}

async fn notices(wire: &mut Wire) {
    wire.send(json!({"jsonrpc": "2.0", "id": 30, "method": "logging/setLevel", "params": {"level": "info"}}))
        .await;
    assert_eq!(wire.answer(30).await["result"], json!({}), "{}", wire.place);
    call(wire, 31, "count", json!({})).await;
    for step in 1..=3 {
        let progress = wire.method("notifications/progress").await;
        assert_eq!(
            (
                &progress["params"]["progressToken"],
                &progress["params"]["progress"]
            ),
            (&json!("p31"), &json!(step))
        );
        let log = wire.method("notifications/message").await;
        assert_eq!(log["params"]["data"], step, "{}", wire.place);
    }
    wire.send(json!({"jsonrpc": "2.0", "id": 32, "method": "logging/setLevel", "params": {"level": "error"}}))
        .await;
    wire.answer(32).await;
    call(wire, 33, "count", json!({})).await;
    assert_eq!(
        wire.left(|it| it["method"] == "notifications/message"),
        0,
        "{}",
        wire.place
    );
}

async fn cancellation(wire: &mut Wire) {
    start(wire, 40, "hang", json!({})).await;
    call(wire, 41, "hanging", json!({"count": 1})).await;
    wire.send(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 40}}),
    )
    .await;
    // The handler is let go: this waits until it is.
    call(wire, 42, "hanging", json!({"count": 0})).await;
}
