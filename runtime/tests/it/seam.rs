//! Where an adapter is needed: what happens without one, and what the endpoint does for one that asks back.

use std::time::Duration;

use crate::support::{
    Channel, NOW, Server, calls, claim, get, open, open_bare, profile_text, server, text_of,
};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{Event, Fate, To};
use mcp_revisions::{Revision, core::Adapter, mcp_wire::meta};
use serde_json::json;

const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#;

#[test]
fn without_an_adapter_a_request_is_refused_and_the_need_is_named() {
    let per_request = server(Revision::V2026_07_28);
    let mut channel = open_bare(&per_request, "2025-11-25");
    let received = per_request.receive(&mut channel, None, SUBSCRIBE.as_bytes(), NOW);
    let [Event::RequiresState(method, needs)] = received.events.as_slice() else {
        panic!("{received:?}")
    };
    assert_eq!(
        (needs.adapter, needs.rule),
        (Adapter::Subscription, "subscription")
    );
    assert_eq!(
        (method.as_str(), needs.step),
        ("resources/subscribe", "2025-11-25..2026-07-28")
    );
    assert!(received.reply.unwrap().body.unwrap().contains("-32601"));
    assert_eq!(channel.pending(), 0);

    let handshake = server(Revision::V2025_11_25);
    let listen = claim(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let mut channel = Channel::bare();
    let answer = get(&handshake, &mut channel, &listen);
    assert_eq!(answer["error"]["code"], -32601);
    let retry = claim(
        "tools/call",
        json!({"name": "t", "requestState": "s", "inputResponses": {}}),
    );
    let received = handshake.receive(&mut channel, None, retry.as_bytes(), NOW);
    let [Event::RequiresState(_, needs)] = received.events.as_slice() else {
        panic!("{received:?}")
    };
    assert_eq!(needs.adapter, Adapter::MultiRoundTrip);
}

#[test]
fn without_an_adapter_what_the_server_wants_is_named_too() {
    let per_request = server(Revision::V2026_07_28);
    let mut channel = open_bare(&per_request, "2025-11-25");
    let received = per_request.receive(&mut channel, None, CALL.as_bytes(), NOW);
    let output = per_request.answer(
        &mut channel,
        calls(&received)[0].token,
        Ok(input_required()),
        NOW,
    );
    let Fate::RequiresState(needs) = &output.fate else {
        panic!("{output:?}")
    };
    assert_eq!(
        (needs.adapter, needs.rule),
        (Adapter::MultiRoundTrip, "input-required")
    );
    assert_eq!(text_of(&output)["error"]["code"], -32603);

    // Towards a per-request client a server has neither requests nor notifications of its own accord.
    let handshake = server(Revision::V2025_11_25);
    let mut channel = Channel::bare();
    let (_, output) = handshake.ask(&mut channel, None, "roots/list", None, NOW);
    let Fate::RequiresState(needs) = output.fate else {
        panic!()
    };
    assert_eq!(
        (needs.adapter, needs.rule, needs.step),
        (
            Adapter::MultiRoundTrip,
            "input-required",
            "2025-11-25..2026-07-28"
        )
    );
    let output = handshake.notify(
        &mut channel,
        To::Session,
        "notifications/tools/list_changed",
        None,
        NOW,
    );
    let Fate::RequiresState(needs) = output.fate else {
        panic!()
    };
    // Each by the rule that the spec has for it.
    assert_eq!(
        (needs.adapter, needs.rule, needs.step),
        (
            Adapter::Subscription,
            "unasked-changes",
            "2025-11-25..2026-07-28"
        )
    );

    // A result of a task towards a client that knows none.
    let task = Json::from_text(r#"{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}"#).unwrap();
    let received = handshake.receive(
        &mut channel,
        None,
        claim("tools/call", json!({"name": "t"})).as_bytes(),
        NOW,
    );
    let output = handshake.answer(&mut channel, calls(&received)[0].token, Ok(task), NOW);
    let Fate::RequiresState(needs) = output.fate else {
        panic!()
    };
    assert_eq!(needs.adapter, Adapter::Tasks);
}

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":1}}}"#;

fn input_required() -> Json {
    let result = json!({
        "resultType": "input_required",
        "requestState": "opaque \u{e9}",
        "inputRequests": {"where": {"method": "roots/list"}},
    });
    Json::from_value(&result).unwrap()
}

#[test]
fn a_round_trip_adapter_asks_the_client_and_calls_again() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-06-18");
    let received = server.receive(&mut channel, None, CALL.as_bytes(), NOW);
    let call = calls(&received).remove(0);
    let output = server.answer(&mut channel, call.token, Ok(input_required()), NOW);
    assert_eq!(
        (&output.fate, channel.pending(), channel.asked()),
        (&Fate::Adapted, 1, 1)
    );
    let asked = text_of(&output);
    assert_eq!(asked["method"], "roots/list");
    assert_eq!(output.send[0].exchange, Some(received.exchange));

    let roots =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": "file:///r"}]}});
    let again = server.receive(&mut channel, None, roots.to_string().as_bytes(), NOW);
    let retry = calls(&again).remove(0);
    assert_eq!(
        (retry.token, retry.exchange),
        (call.token, received.exchange)
    );
    let params: mcp_revisions::core::v2026_07_28::CallToolRequestParams = retry.read().unwrap();
    assert_eq!(params.request_state.as_deref(), Some("opaque \u{e9}"));
    assert_eq!(params.arguments.unwrap().text(), r#"{"x":1}"#);
    assert!(
        (retry.params.get("_meta").unwrap())
            .get(meta::PROTOCOL_VERSION)
            .is_some()
    );

    let done = Json::from_text(r#"{"resultType":"complete","content":[]}"#).unwrap();
    let output = server.answer(&mut channel, retry.token, Ok(done), NOW);
    assert_eq!(
        text_of(&output),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    );
    assert_eq!((channel.pending(), channel.asked()), (0, 0));
}

/// The handlers are told of it by a call that lasts, and do not say in time that they have taken it up.
#[test]
fn a_subscription_that_is_not_taken_up_is_refused_when_its_time_has_come() {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    let server = Server::new(Revision::V2026_07_28, profile).unwrap();
    let mut channel = open(&server, "2025-06-18");
    let begun = Duration::from_secs(10);
    let received = server.receive(&mut channel, None, SUBSCRIBE.as_bytes(), begun);
    assert_eq!(calls(&received)[0].method, "subscriptions/listen");
    assert!(received.reply.is_none(), "{received:?}");
    let until = channel.wake_at().unwrap();
    assert_eq!(until, begun + Duration::from_secs(10));
    let early = server.tick(&mut channel, until - Duration::from_millis(1));
    assert_eq!((early.send, channel.wake_at()), (Vec::new(), Some(until)));
    let output = server.tick(&mut channel, until);
    let answer = text_of(&output);
    let code = &answer["error"]["code"];
    assert_eq!((&answer["id"], code), (&json!(1), &json!(-32603)));
    assert_eq!(channel.wake_at(), None);
}

#[test]
fn a_subscription_that_the_handlers_do_not_offer_is_no_call_and_leaves_nothing_behind() {
    let server = server(Revision::V2026_07_28);
    let mut channel = open(&server, "2025-06-18");
    let answer = get(&server, &mut channel, SUBSCRIBE);
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!((channel.pending(), channel.wake_at()), (0, None));
}

#[test]
fn params_that_are_not_valid_are_refused_before_an_adapter_sees_them() {
    let profile = profile_text(r#"{"resources":{"subscribe":true}}"#);
    let server = Server::new(Revision::V2026_07_28, profile).unwrap();
    let mut channel = open(&server, "2025-06-18");
    for wrong in ["\"x\":", "\"uri\":7,\"x\":"] {
        let text = SUBSCRIBE.replace("\"uri\":", wrong);
        let received = server.receive(&mut channel, None, text.as_bytes(), NOW);
        assert_eq!(received.events, [], "{wrong}");
        assert!(received.reply.unwrap().body.unwrap().contains("-32602"));
        assert_eq!((channel.pending(), channel.wake_at()), (0, None));
    }
}
