//! Calls refused for their headers: the tools are listed anew, and the call is sent again, once.

use mcp_revisions::Revision;
use mcp_revisions::sansio::client::{Channel, Options, OutgoingRequest, Post, Token, Verdict};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{End, Heard, NOW, error, hear, open, profile, result};

const HEADER_MISMATCH: i64 = -32020;

fn per_request() -> End {
    let options = Options::new(Channel::Http, profile());
    open(
        Revision::V2026_07_28,
        options.with_verdict(Verdict(Revision::V2026_07_28)),
    )
}

fn call(client: &mut End) -> (Token, Post, Value) {
    let params = json!({"name": "add", "arguments": {"region": "eu"}});
    let ask = OutgoingRequest::new("tools/call", Some(Json::from(params)));
    let token = client.ask(ask, NOW).unwrap();
    let (post, message) = hear(client).only();
    (token, post, message)
}

/// The server answers a POST.
fn answer(client: &mut End, post: &Post, status: u16, message: &Value) -> Heard {
    let body = message.to_string();
    client.answered(post.exchange, status, None, Some(body.as_bytes()), NOW);
    hear(client)
}

fn refuse(client: &mut End, post: &Post, message: &Value) -> Heard {
    let refusal = error(&message["id"], HEADER_MISMATCH, Value::Null);
    answer(client, post, 400, &refusal)
}

fn page(message: &Value, tools: &[Value], next: Option<&str>) -> Value {
    let mut page =
        json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools});
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    result(&message["id"], page)
}

fn tool() -> Value {
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    json!({"name": "add", "inputSchema": {"type": "object", "properties": {"region": region}}})
}

fn region(post: &Post) -> Option<&str> {
    let mut headers = post.headers.iter();
    let found = headers.find(|(name, _)| name.eq_ignore_ascii_case("Mcp-Param-Region"));
    found.map(|(_, value)| value.as_str())
}

#[test]
fn calls_refused_for_their_headers_are_sent_again_once_the_tools_are_known() {
    let mut client = per_request();
    let (first, post_one, one) = call(&mut client);
    let (second, post_two, two) = call(&mut client);
    assert_eq!((region(&post_one), region(&post_two)), (None, None));
    // One list for both, to its last page; nobody is told of the refusals.
    let heard = refuse(&mut client, &post_one, &one);
    let (list, listing) = heard.only();
    assert_eq!(listing["method"], "tools/list");
    let heard = refuse(&mut client, &post_two, &two);
    assert!(heard.sent.is_empty() && heard.events.is_empty());
    assert_eq!(client.pending(), 3);
    let heard = answer(&mut client, &list, 200, &page(&listing, &[], Some("2")));
    let (list, listing) = heard.only();
    assert_eq!(
        (&listing["method"], &listing["params"]["cursor"]),
        (&json!("tools/list"), &json!("2"))
    );
    let heard = answer(&mut client, &list, 200, &page(&listing, &[tool()], None));
    assert_eq!(heard.methods(), ["tools/call", "tools/call"]);
    assert!(heard.sent.iter().all(|post| region(post) == Some("eu")));

    // The first is answered; the second is refused again, and that is its answer.
    let (posts, messages) = (heard.sent.clone(), heard.messages());
    let sum = json!({"resultType": "complete", "content": []});
    let sum = result(&messages[0]["id"], sum);
    let answers = answer(&mut client, &posts[0], 200, &sum).answers();
    assert_eq!(answers[0].0, first);
    assert!(answers[0].1.read::<Json>().is_ok());
    let heard = refuse(&mut client, &posts[1], &messages[1]);
    assert!(heard.sent.is_empty());
    let answers = heard.answers();
    assert_eq!(answers[0].0, second);
    assert_eq!(answers[0].1.read::<Json>().unwrap_err(), "no (-32020)");
    assert_eq!(client.pending(), 0);
}

#[test]
fn a_list_that_is_not_to_be_had_leaves_the_call_refused() {
    for is_refused in [true, false] {
        let mut client = per_request();
        let (token, post, message) = call(&mut client);
        let (list, listing) = refuse(&mut client, &post, &message).only();
        let heard = match is_refused {
            true => answer(
                &mut client,
                &list,
                200,
                &error(&listing["id"], -32603, Value::Null),
            ),
            false => {
                client.ended(list.exchange, NOW);
                hear(&mut client)
            }
        };
        assert!(heard.sent.is_empty());
        let answers = heard.answers();
        assert_eq!((answers.len(), answers[0].0), (1, token));
        assert_eq!(answers[0].1.read::<Json>().unwrap_err(), "no (-32020)");
        assert_eq!(client.pending(), 0);
    }
}

#[test]
fn a_call_that_is_given_up_meanwhile_is_not_sent_again() {
    let mut client = per_request();
    let (token, post, message) = call(&mut client);
    let (list, listing) = refuse(&mut client, &post, &message).only();
    client.cancel(token, None, NOW);
    assert!(hear(&mut client).answer().is_err());
    let heard = answer(&mut client, &list, 200, &page(&listing, &[tool()], None));
    assert!(heard.sent.is_empty() && heard.answers().is_empty());
    // What was learned is known.
    assert_eq!(region(&call(&mut client).1), Some("eu"));
}

#[test]
fn a_list_without_an_end_is_left_after_a_hundred_pages() {
    let mut client = per_request();
    let (_, post, message) = call(&mut client);
    let (mut list, mut listing) = refuse(&mut client, &post, &message).only();
    let mut pages = 0;
    while listing["method"] == "tools/list" {
        pages += 1;
        let page = page(&listing, &[tool()], Some("more"));
        (list, listing) = answer(&mut client, &list, 200, &page).only();
    }
    // The call goes out with what was learned so far.
    assert_eq!((pages, region(&list)), (100, Some("eu")));
}

#[test]
fn a_connection_that_ends_meanwhile_ends_the_calls_that_wait_for_the_list() {
    let mut client = per_request();
    let (token, post, message) = call(&mut client);
    refuse(&mut client, &post, &message).only();
    client.closed(NOW);
    let answers = hear(&mut client).answers();
    assert_eq!((answers.len(), answers[0].0), (1, token));
    let failure = answers[0].1.read::<Json>().unwrap_err();
    assert_eq!(failure, "the connection ended before the answer");
    assert_eq!(client.pending(), 0);
}

#[test]
fn the_headers_of_ten_thousand_tools_are_known_and_no_more() {
    let mut client = per_request();
    client
        .ask(OutgoingRequest::new("tools/list", None), NOW)
        .unwrap();
    let (list, listing) = hear(&mut client).only();
    let tools = (0..=10_000).map(|at| {
        let mut tool = tool();
        tool["name"] = json!(format!("tool-{at}"));
        tool
    });
    let page = page(&listing, &tools.collect::<Vec<_>>(), None);
    assert!(answer(&mut client, &list, 200, &page).answer().is_ok());
    let mut known = |name: &str| {
        let params = json!({"name": name, "arguments": {"region": "eu"}});
        let ask = OutgoingRequest::new("tools/call", Some(Json::from(params)));
        client.ask(ask, NOW).unwrap();
        region(&hear(&mut client).only().0).is_some()
    };
    assert!(known("tool-0") && known("tool-9999"));
    assert!(!known("tool-10000"));
}
