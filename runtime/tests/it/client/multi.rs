//! Results that ask for input: what the application is asked, and what is sent again.

use mcp_revisions::Revision;
use mcp_revisions::sansio::client::{Answer, Channel, InputRequired};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{End, NOW, call, hear, open, options, reaction, result, settle};

const STATE: &str = r#""aA\u002b\/ \"x\" \ud83d\ude00""#;

fn question() -> Value {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": "who?", "requestedSchema": schema}})
}

fn asked(client: &mut End, content: &str) -> Result<InputRequired, String> {
    client.ask(call("greet"), NOW).unwrap();
    let (_, sent) = hear(client).only();
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required"{content}}}}}"#,
        sent["id"]
    );
    client.receive(None, text.as_bytes(), NOW);
    let mut answers = hear(client).answers();
    assert_eq!(answers.len(), 1);
    match answers.remove(0).1 {
        Answer::InputRequired(input) => Ok(input),
        other => Err(format!("{other:?}")),
    }
}

fn per_request(app: Revision) -> End {
    let mut client = open(app, options(Channel::Stdio));
    settle(&mut client, "2026-07-28");
    client
}

fn round(app: Revision) {
    let mut client = per_request(app);
    let content = format!(
        r#","requestState":{STATE},"inputRequests":{{"who":{}}}"#,
        question()
    );
    let input = asked(&mut client, &content).unwrap();
    assert_eq!(input.retry.request_state(), Some(STATE));
    assert_eq!(input.retry.method(), "tools/call");
    let [asked] = input.questions.as_slice() else {
        panic!("{:?}", input.questions)
    };
    assert_eq!(
        (asked.key.as_str(), asked.method.as_str()),
        ("who", "elicitation/create")
    );
    assert!(asked.params.as_ref().unwrap().text().contains("who?"));

    let answer = Json::from(json!({"action": "accept", "content": {"name": "me"}}));
    let answers = [
        ("who".to_owned(), answer.clone()),
        ("what".to_owned(), answer),
    ];
    client.retry(input.retry, answers, NOW).unwrap();
    let (send, sent) = hear(&mut client).only();
    assert_eq!(sent["method"], "tools/call");
    assert_eq!(sent["params"]["name"], "greet");
    assert_eq!(
        sent["params"]["inputResponses"],
        json!({"who": {"action": "accept", "content": {"name": "me"}}})
    );
    assert!(
        send.text.contains(&format!(r#""requestState":{STATE}"#)),
        "byte for byte: {}",
        send.text
    );
    assert_eq!(
        sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );

    assert!(
        reaction(
            &mut client,
            &result(
                &sent["id"],
                json!({"resultType": "complete", "content": []}),
            )
        )
        .answer()
        .is_ok()
    );
}

#[test]
fn the_same_request_goes_again_with_answers_and_state() {
    round(Revision::V2026_07_28);
    round(Revision::V2025_11_25);
    round(Revision::V2025_06_18);
}

#[test]
fn a_question_that_the_application_cannot_be_asked_says_so() {
    let mut client = per_request(Revision::V2024_11_05);
    let input = asked(
        &mut client,
        &format!(r#","inputRequests":{{"who":{}}}"#, question()),
    )
    .unwrap();
    assert_eq!(
        input.questions[0]
            .params
            .as_ref()
            .unwrap_err()
            .code
            .as_i64(),
        Some(-32601)
    );
}

#[test]
fn state_and_answers_are_sent_only_where_they_were_given_or_asked_for() {
    let mut client = per_request(Revision::V2026_07_28);
    let input = asked(&mut client, r#","requestState":"s""#).unwrap();
    client.retry(input.retry, [], NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["params"]["requestState"], "s");
    assert_eq!(sent["params"].get("inputResponses"), None);
    reaction(
        &mut client,
        &result(
            &sent["id"],
            json!({"resultType": "complete", "content": []}),
        ),
    );

    let input = asked(
        &mut client,
        &format!(r#","inputRequests":{{"who":{}}}"#, question()),
    )
    .unwrap();
    client.retry(input.retry, [], NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["params"].get("requestState"), None);
    assert_eq!(sent["params"]["inputResponses"], json!({}));
}

#[test]
fn what_asks_for_nothing_or_nonsense_is_invalid() {
    for content in [
        "",
        r#","requestState":5"#,
        r#","inputRequests":[]"#,
        r#","inputRequests":{"a":{}}"#,
    ] {
        let mut client = per_request(Revision::V2025_11_25);
        let failure = asked(&mut client, content).unwrap_err();
        assert!(failure.contains("InvalidResult"), "{content}: {failure}");
    }
}
