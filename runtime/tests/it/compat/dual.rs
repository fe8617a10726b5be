//! A client of both lifecycles: it probes as the newer one does, and then speaks both on one line.

use serde_json::{Value, json};

use crate::compat::wire::Wire;
use crate::compat::{handshake, per_request};

/// Everything of either lifecycle, one after the other, on what the other has left.
pub(crate) async fn all(wire: &mut Wire, version: &str) {
    per_request::send(wire, 0, "server/discover", json!({})).await;
    let discovered = wire.answer(0).await;
    let supported = &discovered["result"]["supportedVersions"];
    let supports = |version: &str| supported.as_array().unwrap().contains(&json!(version));
    assert!(supports("2026-07-28"), "{}: {discovered}", wire.place);
    per_request::all(wire).await;
    wire.forget();
    handshake::all(wire, version).await;
    between(wire).await;
    wire.forget();
    // The session has left nothing that a request without one could hear.
    per_request::all(wire).await;
}

/// While a question to the session waits for its answer, a request of the other lifecycle is asked in a result, and goes on.
async fn between(wire: &mut Wire) {
    let roots = |name: &str| json!({"roots": [{"uri": format!("file:///{name}")}]});
    handshake::start(wire, 60, "ask", json!({"what": "roots"})).await;
    let asked = wire.method("roots/list").await;
    let call = per_request::call(wire, 61, "ask", json!({"what": "roots"})).await;
    assert_eq!(
        call["result"]["resultType"], "input_required",
        "{}",
        wire.place
    );
    let requests = call["result"]["inputRequests"].as_object().unwrap();
    let name = requests.keys().next().unwrap();
    let params = json!({"name": "ask", "arguments": {"what": "roots"},
        "requestState": call["result"]["requestState"], "inputResponses": {name: roots("per-request")}});
    per_request::send(wire, 62, "tools/call", params).await;
    let heard =
        |answer: &Value| -> Value { serde_json::from_str(handshake::text(answer)).unwrap() };
    assert_eq!(
        heard(&wire.answer(62).await),
        roots("per-request"),
        "{}",
        wire.place
    );
    wire.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots("handshake")}))
        .await;
    assert_eq!(
        heard(&wire.answer(60).await),
        roots("handshake"),
        "{}",
        wire.place
    );
}
