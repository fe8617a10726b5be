//! A client of the lifecycle without a handshake.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::compat::handlers::FILE;
use crate::compat::wire::Wire;
use crate::support::says;

pub(crate) async fn all(wire: &mut Wire) {
    let sum = call(wire, 1, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(text(&sum), "3", "{}", wire.place);
    questions(wire).await;
    refused_retries(wire).await;
    subscription(wire).await;
    notices(wire).await;
    cancellation(wire).await;
}

pub(crate) async fn send(wire: &mut Wire, id: i64, method: &str, mut params: Value) {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] =
        json!({"roots": {}, "sampling": {}, "elicitation": {}});
    wire.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        .await;
}

pub(crate) async fn call(wire: &mut Wire, id: i64, name: &str, arguments: Value) -> Value {
    send(
        wire,
        id,
        "tools/call",
        json!({"name": name, "arguments": arguments}),
    )
    .await;
    wire.answer(id).await
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

async fn asked(wire: &mut Wire, id: i64, what: &str) -> (String, Value, Value) {
    let result = call(wire, id, "ask", json!({"what": what})).await["result"].take();
    assert_eq!(
        result["resultType"], "input_required",
        "{}: {result}",
        wire.place
    );
    let requests = result["inputRequests"].as_object().unwrap();
    let (name, request) = requests.iter().next().unwrap();
    (
        name.clone(),
        request.clone(),
        result["requestState"].clone(),
    )
}

async fn questions(wire: &mut Wire) {
    for (id, (what, method, answer)) in (10..).step_by(2).zip(super::questions_and_answers()) {
        let (name, request, state) = asked(wire, id, what).await;
        assert_eq!(request["method"], method, "{}", wire.place);
        // The arguments as another library would write them.
        let params = json!({"arguments": {"what": what}, "name": "ask", "requestState": state, "inputResponses": {name: answer}});
        send(wire, id + 1, "tools/call", params).await;
        let done = wire.answer(id + 1).await;
        let heard: Value = serde_json::from_str(text(&done)).unwrap();
        for (name, value) in answer.as_object().unwrap() {
            assert_eq!(&heard[name], value, "{}: {what}", wire.place);
        }
    }
}

/// A retry that cannot go on is answered all the same.
async fn refused_retries(wire: &mut Wire) {
    let (name, _, state) = asked(wire, 18, "roots").await;
    let signed = BASE64_URL_SAFE_NO_PAD
        .decode(state.as_str().unwrap())
        .unwrap();
    let is_own = |part: &[u8]| part == b"what I know";
    let asks_by_results = signed.windows(11).any(is_own);
    let answers = json!({name: {"roots": []}});
    let retries = [
        json!({"name": "ask", "arguments": {"what": "elicit"}, "requestState": state, "inputResponses": answers}),
        json!({"name": "ask", "arguments": {"what": "roots"}, "requestState": "made up", "inputResponses": answers}),
        json!({"name": "ask", "arguments": {"what": "roots"}, "inputResponses": answers}),
    ];
    // Handlers that ask by results are called with whatever answers come, and again if the same come again.
    let refused = if asks_by_results { 2 } else { retries.len() };
    for (id, params) in (80..).zip(retries).take(refused) {
        send(wire, id, "tools/call", params).await;
        let refused = wire.answer(id).await;
        assert_eq!(
            refused["error"]["code"], -32602,
            "{}: {refused}",
            wire.place
        );
    }
    if asks_by_results {
        return;
    }
    // Without the answer it is asked again, and with it goes on; a second time there is nothing to go on with.
    let call = |state: &Value, answers: Value| json!({"name": "ask", "arguments": {"what": "roots"}, "requestState": state, "inputResponses": answers});
    send(
        wire,
        83,
        "tools/call",
        call(&state, json!({"other": {"roots": []}})),
    )
    .await;
    let again = wire.answer(83).await;
    assert_eq!(
        again["result"]["resultType"], "input_required",
        "{}: {again}",
        wire.place
    );
    let state = again["result"]["requestState"].clone();
    send(wire, 84, "tools/call", call(&state, answers.clone())).await;
    assert_eq!(text(&wire.answer(84).await), r#"{"roots":[]}"#);
    send(wire, 85, "tools/call", call(&state, answers)).await;
    let over = wire.answer(85).await;
    assert_eq!(over["error"]["code"], -32602, "{}: {over}", wire.place);
    says(&over["error"]["message"], "make the request again");
}

async fn subscription(wire: &mut Wire) {
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": [FILE]});
    send(
        wire,
        20,
        "subscriptions/listen",
        json!({"notifications": filter}),
    )
    .await;
    let key = "io.modelcontextprotocol/subscriptionId";
    let agreed = wire
        .method("notifications/subscriptions/acknowledged")
        .await;
    assert_eq!(agreed["params"]["notifications"], filter, "{}", wire.place);
    assert_eq!(agreed["params"]["_meta"][key], 20);
    call(wire, 24, "watched", json!({"count": 1})).await;
    call(wire, 21, "touch", json!({})).await;
    let of_stream = |message: &Value, method: &str| {
        message["method"] == method && message["params"]["_meta"][key] == 20
    };
    let updated = "notifications/resources/updated";
    let told = wire.until(updated, |it| of_stream(it, updated)).await;
    assert_eq!(told["params"]["uri"], FILE, "{}", wire.place);
    call(wire, 22, "change", json!({})).await;
    let changed = "notifications/tools/list_changed";
    wire.until(changed, |it| of_stream(it, changed)).await;
    end(wire, 20).await;
    call(wire, 25, "watched", json!({"count": 0})).await;
    call(wire, 23, "touch", json!({})).await;
    let left = wire.left(|it| of_stream(it, updated));
    assert_eq!(left, 0, "{}", wire.place);
}

/// Cancels a request as the transport has it.
async fn end(wire: &mut Wire, id: i64) {
    if wire.is_http() {
        return wire.hang_up(&json!(id));
    }
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let params = json!({"requestId": id, "_meta": meta});
    wire.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
}

async fn notices(wire: &mut Wire) {
    let count = |meta: Value| json!({"name": "count", "arguments": {}, "_meta": meta});
    send(
        wire,
        31,
        "tools/call",
        count(json!({"progressToken": "p31", "io.modelcontextprotocol/logLevel": "info"})),
    )
    .await;
    wire.answer(31).await;
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
    send(wire, 32, "tools/call", count(json!({}))).await;
    wire.answer(32).await;
    let unasked = ["notifications/message", "notifications/progress"];
    let left = wire.left(|it| unasked.iter().any(|method| it["method"] == *method));
    assert_eq!(left, 0, "{}", wire.place);
}

async fn cancellation(wire: &mut Wire) {
    send(
        wire,
        40,
        "tools/call",
        json!({"name": "hang", "arguments": {}}),
    )
    .await;
    call(wire, 41, "hanging", json!({"count": 1})).await;
    end(wire, 40).await;
    // The handler is let go: this waits until it is.
    call(wire, 42, "hanging", json!({"count": 0})).await;
}
