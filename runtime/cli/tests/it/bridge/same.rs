//! What two peers of one revision say to each other arrives as it was said.

use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::bridge::http::{LISTENING, asking, port_of, post, result};
use crate::bridge::talk::{Talk, bridge, bridge_to, value};

/// Nothing of the handshake takes the way by another revision, in which `tasks` has no place.
#[test]
fn a_handshake_between_peers_of_one_revision_loses_nothing() {
    let revision = Revision::V2025_11_25;
    let mut talk = Talk::new(revision, bridge(&["--loss-log", "off"], revision));
    let who = talk.tool("who");
    let said = value(&talk.answers(&[who])[&who])["content"][0]["text"].to_string();
    assert!(said.contains("tasks"), "{said}");
    let said = talk.said.iter().filter(|(is_clients, _)| !is_clients);
    let said: Value =
        serde_json::from_str(said.map(|(_, text)| text.as_str()).next().unwrap()).unwrap();
    assert_eq!(
        said["result"]["capabilities"]["tasks"],
        json!({ "list": {} }),
        "{said}"
    );
    assert_eq!(said["result"]["x-vendor"], 1, "{said}");
}

/// All questions of a result come at once, under the keys that the server gave them, and so do their answers.
#[test]
fn questions_between_peers_of_one_revision_keep_their_keys_and_come_together() {
    let latest = Revision::LATEST;
    let (_child, port) = port_of(bridge_to(&LISTENING, latest, &["--rounds"]));
    let asked = result(&post(port, latest, &asking("two", json!({}))));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let questions: Vec<&String> = asked["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(questions, ["day", "place"]);
    let answer = json!({ "action": "accept", "content": {} });
    let answers = json!({ "day": answer, "place": answer });
    let again = json!({ "requestState": asked["requestState"], "inputResponses": answers });
    let answered = result(&post(port, latest, &asking("two", again)));
    let text = r#"{"keys":["day","place"],"state":"mine"}"#;
    assert_eq!(answered["content"][0]["text"], text, "{answered}");
}
