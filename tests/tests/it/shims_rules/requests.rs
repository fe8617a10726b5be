//! Requests: what a handshake settled, and what only one side has.

use super::*;

fn session() -> Context {
    Context::default().with_session(Session {
        client_capabilities: Json::from_text(r#"{"roots":{}}"#).ok(),
        ..Session::default()
    })
}

#[test]
fn a_request_says_what_the_handshake_settled() {
    let subject = Subject::Method("tools/call", Part::Params, None);
    let older = r#"{"name":"t","_meta":{"com.example/key":1}}"#;
    let newer = r#"{"name":"t","_meta":{"com.example/key":1,
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}"#;
    needs(
        &convert(subject, V2025_11_25, V2026_07_28, older, Context::default()),
        Adapter::Handshake,
    );
    says(
        &convert(subject, V2025_11_25, V2026_07_28, older, session()),
        newer,
        &[],
    );
    let down = convert(subject, V2026_07_28, V2025_11_25, newer, Context::default());
    says(
        &down,
        older,
        &[
            (
                "client-capabilities",
                "/_meta/io.modelcontextprotocol~1clientCapabilities",
                Cosmetic,
                InSession,
            ),
            (
                "protocol-version",
                "/_meta/io.modelcontextprotocol~1protocolVersion",
                Cosmetic,
                InSession,
            ),
        ],
    );
}

#[test]
fn a_level_for_logs_and_answers_to_questions_need_adapters() {
    let params = |more: &str| {
        format!(
            r#"{{"name":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{{}}{more}"#
        )
    };
    let down = |text: String| of_type("CallToolRequestParams", V2026_07_28, V2025_11_25, &text);
    needs(
        &down(params(r#","io.modelcontextprotocol/logLevel":"info"}}"#)),
        Adapter::LogLevel,
    );
    needs(
        &down(params(r#"},"inputResponses":{}}"#)),
        Adapter::MultiRoundTrip,
    );
    needs(
        &down(params(r#"},"requestState":"x"}"#)),
        Adapter::MultiRoundTrip,
    );
}

#[test]
fn what_only_one_side_has_is_answered_by_its_rule() {
    let of = |method, part, from, to, text| {
        convert(
            Subject::Method(method, part, None),
            from,
            to,
            text,
            session(),
        )
    };
    let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    needs(
        &of(
            "initialize",
            Part::Params,
            V2025_11_25,
            V2026_07_28,
            initialize,
        ),
        Adapter::Handshake,
    );
    let uri = r#"{"uri":"file:///a"}"#;
    needs(
        &of(
            "resources/subscribe",
            Part::Params,
            V2025_11_25,
            V2026_07_28,
            uri,
        ),
        Adapter::Subscription,
    );
    needs(
        &of(
            "logging/setLevel",
            Part::Params,
            V2025_11_25,
            V2026_07_28,
            r#"{"level":"info"}"#,
        ),
        Adapter::LogLevel,
    );
    rejected(
        &of(
            "tasks/get",
            Part::Params,
            V2025_11_25,
            V2025_06_18,
            r#"{"taskId":"1"}"#,
        ),
        -32601,
    );
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    rejected(
        &of(
            "elicitation/create",
            Part::Params,
            V2025_06_18,
            V2025_03_26,
            form,
        ),
        -32601,
    );
    let done = of(
        "notifications/elicitation/complete",
        Part::Params,
        V2025_11_25,
        V2025_06_18,
        r#"{"elicitationId":"e"}"#,
    );
    dropped(&done, "elicitation-complete");
}

#[test]
fn progress_of_the_client_ends_and_that_of_the_server_goes_on() {
    use mcp_wire::Direction::{ClientToServer, ServerToClient};
    let text = r#"{"progress":1,"progressToken":"t"}"#;
    let of = |direction| {
        let subject = Subject::Method("notifications/progress", Part::Params, Some(direction));
        convert(subject, V2025_11_25, V2026_07_28, text, session())
    };
    dropped(&of(ClientToServer), "client-progress");
    says(&of(ServerToClient), text, &[]);
}

/// What the handshake says for the whole session is not lost with a request's claims.
#[test]
fn a_request_that_only_loses_its_claims_loses_nothing() {
    let call = r#"{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}"#;
    let subject = Subject::Method("tools/call", Part::Params, None);
    let told = convert(subject, V2026_07_28, V2024_11_05, call, Context::default());
    assert!(matches!(told, Outcome::Reversible(..)), "{told:?}");
    assert_eq!(told.losses().len(), 3, "{told:?}");
}

#[test]
fn what_says_nothing_or_is_spelled_otherwise_is_not_lost() {
    let complete = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"},"context":{}}"#;
    let subject = Subject::Method("completion/complete", Part::Params, None);
    let told = convert(
        subject,
        V2025_06_18,
        V2025_03_26,
        complete,
        Context::default(),
    );
    assert!(told.is_exact(), "{told:?}");
    let tools = r#"{"resultType":"complete","ttlMs":0.0,"cacheScope":"private","tools":[]}"#;
    let subject = Subject::Method("tools/list", Part::Result, None);
    let told = convert(subject, V2026_07_28, V2025_11_25, tools, Context::default());
    assert!(told.is_exact(), "{told:?}");
}
