//! The ladder, rung by rung: which revision a message is in, and what refuses it.

use mcp_revisions::core::translate::takes_session_operations;
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::errors::Refusal;
use mcp_revisions::{
    Lifecycle, Revision, RevisionSet,
    core::{Headers, NegotiatedMessage, negotiate_element, peek},
};

use crate::support::{Channel, NOW, body, negotiated};
use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use serde_json::json;

const CLAIM: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// What came of it: a revision, or the code and the status of the refusal.
type Found = Result<NegotiatedMessage, (i64, u16)>;

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn claiming(method: &str, members: &str) -> String {
    request(method, &format!(r#"{{{members}"_meta":{{{CLAIM}}}}}"#))
}

/// Both halves: what the message says, and what its session makes of that.
fn negotiate(
    text: &str,
    headers: Option<&Headers<'_>>,
    session: Option<Revision>,
    served: RevisionSet,
) -> Result<NegotiatedMessage, Box<Refusal>> {
    let message = peek(text.as_bytes()).unwrap();
    mcp_revisions::core::negotiate(&message, headers, served)?.within(session)
}

fn found(
    text: &str,
    headers: Option<&[(&str, &str)]>,
    session: Option<Revision>,
    served: RevisionSet,
) -> Found {
    let headers = headers.map(|pairs| Headers::from_pairs(pairs.iter().copied()));
    negotiate(text, headers.as_ref(), session, served)
        .map_err(|refusal| (refusal.error.code.as_i64().unwrap(), refusal.status))
}

fn on_stdio(text: &str) -> Found {
    found(text, None, None, RevisionSet::all())
}

fn over_http(text: &str, headers: &[(&str, &str)]) -> Found {
    found(text, Some(headers), None, RevisionSet::all())
}

const fn speaks(revision: Revision) -> Found {
    Ok(NegotiatedMessage::Single(revision))
}

#[test]
fn rung_1_get_and_delete_are_session_operations_unless_per_request_alone() {
    let takes =
        |header, served| takes_session_operations(header, served).map_err(|refusal| refusal.status);
    let all = RevisionSet::all();
    assert_eq!(takes(None, all), Ok(true));
    assert_eq!(takes(None, RevisionSet::handshake()), Ok(true));
    assert_eq!(takes(None, RevisionSet::per_request()), Ok(false));
    assert_eq!(takes(Some("2025-11-25"), all), Ok(true));
    assert_eq!(takes(Some("2026-07-28"), all), Ok(false));
    assert_eq!(takes(Some("1999-01-01"), all), Err(400));
}

#[test]
fn rung_2_an_array_is_for_2025_03_26_alone() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    let all = RevisionSet::all();
    assert_eq!(on_stdio(batch), Ok(NegotiatedMessage::Batch(V2025_03_26)));
    assert_eq!(
        found(batch, None, Some(V2025_03_26), all),
        Ok(NegotiatedMessage::Batch(V2025_03_26))
    );
    for session in [V2024_11_05, V2025_06_18, V2025_11_25] {
        assert_eq!(found(batch, None, Some(session), all), Err((-32600, 400)));
    }
    assert_eq!(
        over_http(batch, &[("mcp-protocol-version", "2025-11-25")]),
        Err((-32600, 400))
    );
    assert_eq!(
        over_http(batch, &[("mcp-protocol-version", "2026-07-28")]),
        Err((-32600, 400))
    );
    assert_eq!(
        found(batch, None, None, RevisionSet::per_request()),
        Err((-32600, 400))
    );
}

#[test]
fn rung_2_what_may_not_be_in_a_batch() {
    let code = |text: &str| {
        negotiate_element(&peek(text.as_bytes()).unwrap(), V2025_03_26)
            .map_err(|refusal| refusal.error.code)
    };
    assert_eq!(
        code(&request("ping", "{}")),
        Ok(NegotiatedMessage::Single(V2025_03_26))
    );
    assert_eq!(code(&request("initialize", "{}")), Err((-32600).into()));
    assert_eq!(code(&claiming("tools/list", "")), Err((-32600).into()));
    assert_eq!(code("[]"), Err((-32600).into()));
}

#[test]
fn rung_3_a_claim_comes_before_everything_else() {
    let call = claiming("tools/call", r#""name":"add","#);
    assert_eq!(on_stdio(&call), speaks(V2026_07_28));
    // Neither the session nor what it is called changes that.
    assert_eq!(
        found(&call, None, Some(V2025_03_26), RevisionSet::all()),
        speaks(V2026_07_28)
    );
    assert_eq!(
        on_stdio(&claiming("server/discover", "")),
        speaks(V2026_07_28)
    );
}

#[test]
fn rung_3_a_claim_of_a_handshake_revision_is_of_that_lifecycle() {
    let claim = |version: &str| {
        request(
            "tools/list",
            &format!(r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"}}}}"#),
        )
    };
    assert_eq!(on_stdio(&claim("2025-06-18")), speaks(V2025_06_18));
    assert_eq!(
        found(
            &claim("2025-06-18"),
            None,
            Some(V2025_03_26),
            RevisionSet::all()
        ),
        speaks(V2025_03_26)
    );
    assert_eq!(
        found(&claim("2025-06-18"), None, None, RevisionSet::per_request()),
        Err((-32022, 400))
    );
}

#[test]
fn rung_4_initialize_without_a_claim_is_a_handshake() {
    let initialize = request("initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert_eq!(on_stdio(&initialize), Ok(NegotiatedMessage::Initialize));
    assert_eq!(
        over_http(&initialize, &[("mcp-protocol-version", "2026-07-28")]),
        Ok(NegotiatedMessage::Initialize)
    );
    assert_eq!(
        found(&initialize, None, None, RevisionSet::handshake()),
        Ok(NegotiatedMessage::Initialize)
    );
}

#[test]
fn rung_4_a_per_request_only_server_names_its_revisions() {
    let initialize = request("initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    let refusal = negotiate(&initialize, None, None, RevisionSet::per_request()).unwrap_err();
    assert_eq!(
        (refusal.error.code.as_i64(), refusal.status),
        (Some(-32022), 400)
    );
    let data = refusal.error.data.unwrap();
    let supported = json!(negotiated(Lifecycle::PerRequest));
    assert_eq!(
        data.text(),
        format!(r#"{{"supported":{supported},"requested":"2025-11-25"}}"#)
    );
}

#[test]
fn rung_5_without_a_claim_session_then_header_then_2025_03_26() {
    let list = request("tools/list", "{}");
    let all = RevisionSet::all();
    assert_eq!(on_stdio(&list), speaks(V2025_03_26));
    assert_eq!(over_http(&list, &[]), speaks(V2025_03_26));
    assert_eq!(
        over_http(&list, &[("MCP-Protocol-Version", "2025-06-18")]),
        speaks(V2025_06_18)
    );
    assert_eq!(
        found(&list, None, Some(V2025_11_25), all),
        speaks(V2025_11_25)
    );
    let header: &[_] = &[("mcp-protocol-version", "2025-06-18")];
    assert_eq!(
        found(&list, Some(header), Some(V2025_11_25), all),
        speaks(V2025_11_25)
    );
    // What is assumed has to be served; else the oldest way to speak, else what there is.
    let only = |revision| RevisionSet::none().with(revision);
    assert_eq!(
        found(&list, None, None, only(V2024_11_05)),
        speaks(V2024_11_05)
    );
    assert_eq!(
        found(&list, None, None, only(V2025_11_25)),
        speaks(V2025_11_25)
    );
}

#[test]
fn rung_5_a_per_request_header_without_a_claim_lacks_it() {
    let list = request("tools/list", "{}");
    let header: &[_] = &[("mcp-protocol-version", "2026-07-28")];
    assert_eq!(over_http(&list, header), Err((-32602, 400)));
    assert_eq!(
        found(&list, Some(header), Some(V2025_11_25), RevisionSet::all()),
        Err((-32602, 400))
    );
    // To a server that knows no such revision it is merely unsupported.
    assert_eq!(
        found(&list, Some(header), None, RevisionSet::handshake()),
        Err((-32602, 400))
    );
    assert_eq!(
        over_http(&list, &[("mcp-protocol-version", "1999-01-01")]),
        Err((-32022, 400))
    );
    assert_eq!(
        found(&list, None, None, RevisionSet::per_request()),
        Err((-32602, 400))
    );
}

#[test]
fn rung_6_the_header_decides_for_a_notification() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(
        over_http(note, &[("mcp-protocol-version", "2026-07-28")]),
        speaks(V2026_07_28)
    );
    assert_eq!(
        over_http(note, &[("mcp-protocol-version", "2025-06-18")]),
        speaks(V2025_06_18)
    );
    assert_eq!(over_http(note, &[]), speaks(V2025_03_26));
    assert_eq!(
        found(note, None, Some(V2025_11_25), RevisionSet::all()),
        speaks(V2025_11_25)
    );
    assert_eq!(
        found(note, None, None, RevisionSet::per_request()),
        speaks(
            RevisionSet::per_request()
                .latest(Lifecycle::PerRequest)
                .unwrap()
        )
    );
}

#[test]
fn rung_6_a_notification_that_claims_a_handshake_revision_is_of_its_session() {
    let note = |version: &str| {
        let claim = format!(r#""io.modelcontextprotocol/protocolVersion":"{version}""#);
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":1,"_meta":{{{claim}}}}}}}"#
        )
    };
    let all = RevisionSet::all();
    let needs_session = |version: &str, has_session| {
        let text = note(version);
        let message = peek(text.as_bytes()).unwrap();
        let found = mcp_revisions::core::negotiate(&message, None, all).unwrap();
        found.needs_session(has_session)
    };
    assert!(needs_session("2025-11-25", true));
    assert!(!needs_session("2025-11-25", false));
    assert!(!needs_session("2026-07-28", true));
    assert_eq!(on_stdio(&note("2025-11-25")), speaks(V2025_11_25));
    assert_eq!(
        found(&note("2025-11-25"), None, Some(V2025_03_26), all),
        speaks(V2025_03_26)
    );
}

#[test]
fn rung_7_headers_have_to_agree_with_the_body() {
    let call = claiming("tools/call", r#""name":"größe","#);
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let method = ("Mcp-Method", "tools/call");
    let name = ("Mcp-Name", "=?base64?Z3LDtsOfZQ==?=");
    assert_eq!(
        over_http(&call, &[version, method, name]),
        speaks(V2026_07_28)
    );
    let wrong: &[&[(&str, &str)]] = &[
        &[],
        &[method, name],
        &[version, name],
        &[version, method],
        &[("MCP-Protocol-Version", "2025-11-25"), method, name],
        &[version, ("Mcp-Method", "tools/list"), name],
        &[version, ("Mcp-Method", "Tools/IncomingRequest"), name],
        &[version, method, ("Mcp-Name", "grosse")],
        &[version, method, ("Mcp-Name", "=?base64?AAAA?=")],
        &[version, method, ("Mcp-Name", "=?base64?!?=")],
        &[version, method, name, ("mcp-name", "other")],
    ];
    for headers in wrong {
        assert_eq!(over_http(&call, headers), Err((-32020, 400)), "{headers:?}");
    }
    // Two more methods have a name; the others have none to agree with.
    let read = claiming("resources/read", r#""uri":"file:///a","#);
    let read_headers = [version, ("Mcp-Method", "resources/read")];
    assert_eq!(over_http(&read, &read_headers), Err((-32020, 400)));
    assert_eq!(
        over_http(
            &read,
            &[read_headers[0], read_headers[1], ("Mcp-Name", "file:///a")]
        ),
        speaks(V2026_07_28)
    );
    let get = claiming("prompts/get", r#""name":"hello","#);
    assert_eq!(
        over_http(
            &get,
            &[version, ("Mcp-Method", "prompts/get"), ("Mcp-Name", "bye")]
        ),
        Err((-32020, 400))
    );
    let list = claiming("tools/list", "");
    assert_eq!(
        over_http(&list, &[version, ("Mcp-Method", "tools/list")]),
        speaks(V2026_07_28)
    );
}

#[test]
fn rung_8_a_claim_that_is_not_served_names_those_that_are() {
    let call = request(
        "tools/list",
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}"#,
    );
    assert_eq!(on_stdio(&call), Err((-32022, 400)));
    let headers = [
        ("mcp-protocol-version", "2099-01-01"),
        ("mcp-method", "tools/list"),
    ];
    assert_eq!(over_http(&call, &headers), Err((-32022, 400)));
    let refusal = negotiate(&call, None, None, RevisionSet::all()).unwrap_err();
    let lifecycles = [Lifecycle::PerRequest, Lifecycle::Handshake];
    let supported = json!(lifecycles.map(negotiated).concat());
    assert_eq!(
        refusal.error.data.unwrap().text(),
        format!(r#"{{"supported":{supported},"requested":"2099-01-01"}}"#)
    );
    // A server of the handshake lifecycle alone does not answer like a per-request one.
    assert_eq!(
        found(&call, None, None, RevisionSet::handshake()),
        Err((-32602, 400))
    );
}

#[test]
fn rung_9_what_meta_has_to_hold() {
    let without = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    assert_eq!(
        on_stdio(&request("tools/list", without)),
        Err((-32602, 400))
    );
    let no_string = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}"#;
    assert_eq!(
        on_stdio(&request("tools/list", no_string)),
        Err((-32602, 400))
    );
    // Null is as good as absent.
    let null = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}}"#;
    assert_eq!(on_stdio(&request("tools/list", null)), Err((-32602, 400)));
}

#[test]
fn rung_10_removed_and_unknown_methods_with_a_claim() {
    let gone = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "no/such",
        "notifications/cancelled",
        "elicitation/create",
    ];
    for method in gone {
        let server = crate::support::server(V2025_11_25);
        let text = claiming(method, "");
        let received = server.receive(&mut Channel::new(), None, text.as_bytes(), NOW);
        let reply = received.reply.unwrap();
        assert_eq!(
            (reply.status, &body(&reply)["error"]["code"]),
            (404, &serde_json::json!(-32601)),
            "{method}"
        );
    }
}

#[test]
fn rung_11_a_missing_capability_has_its_own_code() {
    let required = Json::from_text(r#"{"elicitation":{}}"#).unwrap();
    let refusal = mcp_revisions::sansio::errors::missing_capability(&required);
    assert_eq!(
        (refusal.error.code.as_i64(), refusal.status),
        (Some(-32021), 400)
    );
    assert_eq!(
        refusal.error.data.unwrap().text(),
        r#"{"requiredCapabilities":{"elicitation":{}}}"#
    );
}

#[test]
fn rung_12_session_and_event_headers_say_nothing_to_a_per_request_request() {
    let list = claiming("tools/list", "");
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Session-Id", "abc"),
        ("Last-Event-ID", "7"),
    ];
    assert_eq!(over_http(&list, &headers), speaks(V2026_07_28));
}
