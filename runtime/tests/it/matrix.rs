//! The compatibility matrix: clients of the handshake lifecycle, of the per-request one and of both, with servers that serve the
//! one, the other and both. What the server's side of each meeting has to be, on stdio and over HTTP.

use crate::support::{Channel, NOW, Received, Server, claim, initialize, negotiated, server};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::Event;
use mcp_revisions::{Lifecycle, Revision, RevisionSet, core::Headers};
use serde_json::{Value, json};

/// How a meeting goes.
#[derive(Debug, PartialEq)]
enum Meeting {
    /// They speak this revision: a call was answered in it.
    Speak(Revision),
    /// They have nothing in common, and the client was told so.
    Part,
}

/// What a client does next, by what it is answered.
struct Client {
    per_request: bool,
    handshake: bool,
}

/// The wire between them: headers are sent only where there are any.
struct Wire<'s> {
    app: Revision,
    server: &'s Server,
    channel: Channel,
    http: bool,
}

impl Wire<'_> {
    fn send(&mut self, text: &str, version: Option<&str>) -> Received {
        let message: Value = serde_json::from_str(text).unwrap();
        let mut pairs = Vec::new();
        if let Some(version) = version {
            pairs.push(("mcp-protocol-version", version));
            if version == "2026-07-28" {
                pairs.push(("mcp-method", message["method"].as_str().unwrap()));
                pairs.extend(
                    message["params"]["name"]
                        .as_str()
                        .map(|name| ("mcp-name", name)),
                );
            }
        }
        let headers = Headers::from_pairs(pairs);
        let headers = self.http.then_some(&headers);
        self.server
            .receive(&mut self.channel, headers, text.as_bytes(), NOW)
    }

    /// The answer to a call of a tool, whose handler does its work.
    fn call(&mut self, text: &str, version: &str) -> Value {
        let received = self.send(text, Some(version));
        let Some(Event::Request(call)) = received.events.first() else {
            return serde_json::from_str(&received.reply.unwrap().body.unwrap()).unwrap();
        };
        let mut result = json!({"content": [{"type": "text", "text": "done"}]});
        if self.app == Revision::V2026_07_28 {
            result["resultType"] = json!("complete");
        }
        let result = Json::from_value(&result).unwrap();
        let output = self
            .server
            .answer(&mut self.channel, call.token, Ok(result), NOW);
        serde_json::from_str(&output.send[0].body).unwrap()
    }
}

/// Connects a client as the specification asks: it tries the per-request lifecycle first, and the handshake if the server
/// refuses that.
fn meet(app: Revision, client: &Client, server: &Server, http: bool) -> Meeting {
    let mut wire = Wire {
        app,
        server,
        channel: Channel::new(),
        http,
    };
    if client.per_request {
        let received = wire.send(&claim("server/discover", json!({})), Some("2026-07-28"));
        let reply = received.reply.unwrap();
        let answer: Value = serde_json::from_str(reply.body.as_deref().unwrap()).unwrap();
        let versions = answer["result"]["supportedVersions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        if versions.contains(&json!("2026-07-28")) {
            let answer = wire.call(&claim("tools/call", json!({"name": "t"})), "2026-07-28");
            assert_eq!(answer["result"]["resultType"], "complete");
            assert_eq!(wire.channel.session_revision(), None);
            return Meeting::Speak(Revision::V2026_07_28);
        }
        // No server of the handshake lifecycle may look like a per-request one, or the client would not fall back.
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!(![-32020, -32021, -32022].contains(&code), "{answer}");
        assert_ne!((reply.status, code), (404, -32601));
        if !client.handshake {
            return Meeting::Part;
        }
    }
    let received = wire.send(&initialize("2025-06-18"), None);
    let reply = received.reply.unwrap();
    let answer: Value = serde_json::from_str(reply.body.as_deref().unwrap()).unwrap();
    let Some(version) = answer["result"]["protocolVersion"]
        .as_str()
        .map(str::to_owned)
    else {
        assert_eq!(answer["error"]["code"], -32022);
        assert_eq!(
            answer["error"]["data"]["supported"],
            json!(negotiated(Lifecycle::PerRequest))
        );
        assert!(!reply.opens_session);
        return Meeting::Part;
    };
    assert!(reply.opens_session);
    assert_ne!(
        version, "2026-07-28",
        "a per-request revision was offered in a handshake"
    );
    let header = Some(version.as_str());
    wire.send(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        header,
    );
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let answer = wire.call(call, &version);
    assert_eq!(
        answer["result"],
        json!({"content": [{"type": "text", "text": "done"}]})
    );
    Meeting::Speak(version.parse().unwrap())
}

fn every_meeting(app: Revision) {
    let handshake = Client {
        per_request: false,
        handshake: true,
    };
    let per_request = Client {
        per_request: true,
        handshake: false,
    };
    let both = Client {
        per_request: true,
        handshake: true,
    };
    let (old, new) = (Revision::V2025_06_18, Revision::V2026_07_28);
    for http in [false, true] {
        let handshake_server = server(app).with_revisions(RevisionSet::handshake());
        assert_eq!(
            meet(app, &handshake, &handshake_server, http),
            Meeting::Speak(old)
        );
        assert_eq!(
            meet(app, &per_request, &handshake_server, http),
            Meeting::Part
        );
        assert_eq!(
            meet(app, &both, &handshake_server, http),
            Meeting::Speak(old)
        );

        let per_request_server = server(app).with_revisions(RevisionSet::per_request());
        assert_eq!(
            meet(app, &handshake, &per_request_server, http),
            Meeting::Part
        );
        assert_eq!(
            meet(app, &per_request, &per_request_server, http),
            Meeting::Speak(new)
        );
        assert_eq!(
            meet(app, &both, &per_request_server, http),
            Meeting::Speak(new)
        );

        let dual_server = server(app);
        assert_eq!(
            meet(app, &handshake, &dual_server, http),
            Meeting::Speak(old)
        );
        assert_eq!(
            meet(app, &per_request, &dual_server, http),
            Meeting::Speak(new)
        );
        assert_eq!(meet(app, &both, &dual_server, http), Meeting::Speak(new));
    }
}

#[test]
fn handlers_of_the_handshake_era_meet_every_client() {
    every_meeting(Revision::V2025_06_18);
}

#[test]
fn handlers_of_the_per_request_era_meet_every_client() {
    every_meeting(Revision::V2026_07_28);
}

#[test]
fn both_eras_at_once_on_one_channel() {
    let server = server(Revision::V2026_07_28);
    let mut wire = Wire {
        app: Revision::V2026_07_28,
        server: &server,
        channel: Channel::new(),
        http: false,
    };
    wire.send(&initialize("2024-11-05"), None);
    for _ in 0..3 {
        let per_request = wire.call(&claim("tools/call", json!({"name": "t"})), "2026-07-28");
        assert_eq!(per_request["result"]["resultType"], "complete");
        let handshake = wire.call(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
            "2024-11-05",
        );
        assert_eq!(
            handshake["result"],
            json!({"content": [{"type": "text", "text": "done"}]})
        );
    }
}
