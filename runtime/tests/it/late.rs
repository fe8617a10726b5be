//! A server that learns with each connection which application it serves.

use std::time::Duration;

use crate::support::{NOW, claim, initialize, profile};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::Connection;
use mcp_revisions::sansio::server::{AppProfile, Event, Outgoing, Output, Server};
use mcp_revisions::{Limits, Revision, RevisionSet, sansio::errors};
use serde_json::{Value, json};

type Outputs = Vec<Output<Outgoing>>;

/// What a text comes to.
fn take(connection: &mut Connection<Server>, text: &str) -> Outputs {
    connection.receive(None, text.as_bytes(), NOW);
    rest(connection)
}

fn rest(connection: &mut Connection<Server>) -> Outputs {
    std::iter::from_fn(|| connection.poll()).collect()
}

fn request(id: i64, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string()
}

fn sent(outputs: &Outputs) -> Vec<Value> {
    let texts = outputs.iter().filter_map(|output| match output {
        Output::Send(text) => Some(serde_json::from_str(&text.body).unwrap()),
        _ => None,
    });
    texts.collect()
}

/// The names of the clients that introduce themselves.
fn introduced(outputs: &Outputs) -> Vec<String> {
    let names = outputs.iter().filter_map(|output| match output {
        Output::Event(Event::Introduced(caller)) => {
            let info = caller.info.clone().unwrap_or_default();
            Some(info.read_member("name").unwrap_or_default())
        }
        _ => None,
    });
    names.collect()
}

#[test]
fn what_comes_before_the_application_is_known_is_taken_as_if_it_had_been_known() {
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let session = |version: &str| {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 2 } });
        vec![
            initialize(version),
            initialized.to_owned(),
            request(1, "tools/list"),
            request(2, "prompts/list"),
            cancelled.to_string(),
            request(3, "no/such/method"),
        ]
    };
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/list" },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]);
    let mut in_batch = session("2025-03-26");
    in_batch.push(batch.to_string());
    let claims = vec![
        claim("server/discover", json!({})),
        claim("tools/list", json!({})).replace("\"id\":7", "\"id\":8"),
    ];
    for app in [Revision::V2025_11_25, Revision::LATEST] {
        let known = AppProfile::new(app, profile()).unwrap();
        for texts in [
            session("2024-11-05"),
            session("2025-11-25"),
            in_batch.clone(),
            claims.clone(),
        ] {
            let mut plain = Connection::new(Server::new(app, profile()).unwrap());
            let expected: Outputs = texts
                .iter()
                .flat_map(|text| take(&mut plain, text))
                .collect();
            let mut late = Connection::new(Server::late());
            let before: Outputs = texts
                .iter()
                .flat_map(|text| take(&mut late, text))
                .collect();
            assert_eq!(introduced(&before).len(), 1, "{before:?}");
            assert_eq!(before.len(), 1, "{before:?}");
            assert!(late.is_introducing() && late.unanswered() == texts.len());
            late.introduce(Ok(&known), NOW);
            assert_eq!(rest(&mut late), expected, "{app} {texts:?}");
            assert!(!late.is_introducing());
            // From then on it is a server like any other.
            let text = request(9, "resources/list");
            assert_eq!(take(&mut late, &text), take(&mut plain, &text));
        }
    }
}

#[test]
fn no_application_is_looked_for_on_behalf_of_a_message_that_needs_none() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let claimed = claim("tools/list", json!({}));
    for (text, answer) in [
        (ping.to_owned(), "result"),
        ("not JSON".to_owned(), "error"),
        ("[]".to_owned(), "error"),
        (
            initialize("2025-11-25").replace("clientInfo", "client"),
            "error",
        ),
        (claimed.replace("2026-07-28", "2030-01-01"), "error"),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            "",
        ),
        (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_owned(), ""),
    ] {
        let mut late = Connection::new(Server::late());
        let outputs = take(&mut late, &text);
        assert!(
            introduced(&outputs).is_empty() && !late.is_introducing(),
            "{text}"
        );
        let sent = sent(&outputs);
        assert_eq!(
            sent.len(),
            usize::from(!answer.is_empty()),
            "{text}: {outputs:?}"
        );
        assert!(
            sent.iter().all(|it| !it[answer].is_null()),
            "{text}: {sent:?}"
        );
    }
    let narrow = Server::late().with_revisions(RevisionSet::none().with(Revision::V2025_11_25));
    let outputs = take(&mut Connection::new(narrow), &claimed);
    assert!(introduced(&outputs).is_empty(), "{outputs:?}");
    assert!(!sent(&outputs)[0]["error"].is_null());
    // A ping is answered while others wait.
    let mut late = Connection::new(Server::late());
    assert_eq!(
        introduced(&take(&mut late, &initialize("2025-11-25"))),
        ["client"]
    );
    assert_eq!(sent(&take(&mut late, ping))[0]["result"], json!({}));
}

#[test]
fn a_client_whose_application_is_not_found_hears_why_and_may_introduce_itself_again() {
    let why = errors::internal("the server git cannot be used");
    let mut late = Connection::new(Server::late());
    take(&mut late, &initialize("2025-11-25"));
    take(&mut late, &request(1, "tools/list"));
    take(
        &mut late,
        r#"[{"jsonrpc":"2.0","id":2,"method":"tools/list"}]"#,
    );
    late.introduce(Err(&why), NOW);
    let sent_now = sent(&rest(&mut late));
    let told: Vec<_> = sent_now
        .iter()
        .map(|it| it.get(0).unwrap_or(it))
        .map(|it| (&it["id"], it["error"]["message"].as_str()))
        .collect();
    let ids = [json!("init"), json!(1), json!(2)];
    let expected: Vec<_> = ids
        .iter()
        .map(|id| (id, Some("the server git cannot be used")))
        .collect();
    assert_eq!(told, expected);
    assert_eq!(
        introduced(&take(&mut late, &initialize("2025-11-25"))),
        ["client"]
    );
    let app = AppProfile::new(Revision::LATEST, profile()).unwrap();
    late.introduce(Ok(&app), NOW);
    assert_eq!(late.session_revision(), Some(Revision::V2025_11_25));
}

#[test]
fn what_waits_is_bounded_in_number_bytes_and_time() {
    let limits = Limits {
        max_pending_requests: 3,
        max_pending_bytes: 2_000,
        introduction_timeout: Duration::from_secs(5),
        ..Limits::default()
    };
    let late = || Connection::new(Server::late().with_limits(limits));
    let refused = |outputs: &Outputs| {
        sent(outputs)
            .first()
            .is_some_and(|it| !it["error"].is_null())
    };
    let mut many = late();
    let outcomes = (0..4).map(|id| refused(&take(&mut many, &request(id, "tools/list"))));
    assert_eq!(outcomes.collect::<Vec<_>>(), [false, false, false, true]);
    let mut long = late();
    let text = |id: i64| {
        let params = Json::from(json!({ "name": "x".repeat(900) }));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let outcomes = (0..3).map(|id| refused(&take(&mut long, &text(id))));
    assert_eq!(outcomes.collect::<Vec<_>>(), [false, false, true]);
    // In time.
    assert_eq!(many.wake_at(), Some(NOW + limits.introduction_timeout));
    many.wake(NOW + limits.introduction_timeout);
    let outputs = rest(&mut many);
    assert_eq!(sent(&outputs).len(), 3);
    assert!(refused(&outputs) && many.wake_at().is_none());
    // A client that hangs up leaves nothing.
    let mut gone = late();
    let exchange = gone.receive(None, request(1, "tools/list").as_bytes(), NOW);
    gone.ended(exchange, NOW);
    assert!(!gone.is_introducing() && gone.unanswered_bytes() == 0);
}
