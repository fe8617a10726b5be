//! What is signed: a `requestState` that was changed goes on with no call, and no access token but the one that was signed is valid.

use std::sync::LazyLock;
use std::time::Duration;

use mcp_revisions_auth::KeySet;
use mcp_revisions_core::{Revision, v2025_11_25 as app};
use mcp_revisions_sansio::server::Server;
use mcp_revisions_sansio::{Connection, Event, OutgoingRequest, Output, Profile};
use mcp_wire::Json;
use mcp_wire::args::Version;
use serde_json::{Value, json};

use super::{Signature, Target, digest, kind_of};

pub(super) const STATE: Target = Target {
    name: "state",
    corpus: || {
        let masks: [&[u8]; 6] = [b"", b"\0\0\0\0\x01", b"\x3f", b"-", b"----", b"+AAAA"];
        masks.map(<[u8]>::to_vec).into()
    },
    run: run_state,
};

pub(super) const TOKEN: Target = Target {
    name: "token",
    corpus: token_corpus,
    run: run_token,
};

/// The characters of a state.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns another state: each byte moves a character on; `-` at the start takes characters away, and `+` adds those that follow.
fn masked(state: &str, mask: &[u8]) -> String {
    match mask {
        [b'-', ..] => state[..state.len().saturating_sub(mask.len())].to_owned(),
        [b'+', more @ ..] => format!("{state}{}", String::from_utf8_lossy(more)),
        mask => {
            let moved = state.bytes().enumerate().map(|(at, letter)| {
                let by = usize::from(mask.get(at).copied().unwrap_or_default() % 64);
                let place = ALPHABET.iter().position(|it| *it == letter);
                place.map_or(letter, |place| ALPHABET[(place + by) % 64]) as char
            });
            moved.collect()
        }
    }
}

fn call(more: Value) -> String {
    let mut params = json!({
        "name": "t", "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        },
    });
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

fn run_state(mask: &[u8]) -> Result<Signature, String> {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
        let capabilities =
            app::ServerCapabilities::new().with_tools(app::ServerCapabilitiesTools::new());
        Profile::new(
            &app::Implementation::new("fuzzed", Version("1")),
            &capabilities,
        )
    });
    let server =
        Server::new(Revision::V2025_11_25, PROFILE.clone()).map_err(|error| error.to_string())?;
    let mut connection = Connection::new(server.with_request_state_key([7; 32]));
    let now = Duration::ZERO;
    connection.receive(None, call(json!({})).as_bytes(), now);
    let (suspended, _) = drained(&mut connection, now)?;
    let suspended = suspended.ok_or("the call is not answered")?;
    let result = &suspended["result"];
    let state = result["requestState"]
        .as_str()
        .ok_or("the call has no state")?;
    let asked = result["inputRequests"].as_object();
    let answers = asked.into_iter().flatten().map(|(name, _)| {
        let accepted = json!({ "action": "accept", "content": { "name": "x" } });
        (name.clone(), accepted)
    });
    let answers: Value = answers.collect::<serde_json::Map<_, _>>().into();
    let changed = masked(state, mask);
    let retry = call(json!({ "requestState": changed, "inputResponses": answers }));
    connection.receive(None, retry.as_bytes(), now);
    let (refused, goes_on) = drained(&mut connection, now)?;
    if goes_on != (changed == state) {
        return Err(format!(
            "a state that was {}changed goes on with its call: {goes_on}",
            if changed == state { "not " } else { "" }
        ));
    }
    let why = refused.map(|it| it["error"]["message"].to_string());
    Ok(kind_of(&why.unwrap_or_default()))
}

/// Returns the last text of a server whose handler asks its client, and whether a suspended call went on.
fn drained(
    connection: &mut Connection<Server>,
    now: Duration,
) -> Result<(Option<Value>, bool), String> {
    let (mut last, mut goes_on) = (None, false);
    while let Some(output) = connection.poll() {
        match output {
            Output::Send(text) => {
                let text = serde_json::from_str(&text.body).map_err(|error| error.to_string())?;
                last = Some(text);
            }
            Output::Event(Event::Request(call)) => {
                let question = Json::from_text(
                    r#"{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#,
                );
                let ask = OutgoingRequest::new("elicitation/create", question.ok());
                let asked = connection.ask(ask.about(call.token), now);
                asked.map_err(|error| format!("{error:?}"))?;
            }
            Output::Event(Event::Resumed { .. } | Event::Answered(_)) => goes_on = true,
            _ => {}
        }
    }
    Ok((last, goes_on))
}

const ISSUER: &str = "https://auth.example";
const KEYS: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256","use":"sig","x":"-evkZBR8wQLZIyTQmdknwaUOQtV6CKEW_-wKKYGdjGU","y":"cLr30SiIkCpqDB1nrdEDEjyFmrab-OlDHJOEkw1Lfu4"}]}"#;
const VALID: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6Im9uZSJ9.eyJpc3MiOiJodHRwczovL2F1dGguZXhhbXBsZSIsInN1YiI6ImFkYSIsImF1ZCI6Imh0dHBzOi8vbWNwLmV4YW1wbGUvbWNwIiwiZXhwIjoxODkzNDU2MDAwfQ.MeG7yHALtFtq7JnZldcpdPhG-b75qzT6EVdOQ3Zcc7Et-9eWgHuBhA2oY2UbG29Hox1It_USWLLjUzbrkgaF2Q";

/// A token, and the key set in the line below; without one it is that of the valid token.
fn token_corpus() -> Vec<Vec<u8>> {
    let parts: Vec<&str> = VALID.split('.').collect();
    // `{"alg":"none"}`, and `{"alg":"HS256","kid":"one"}`.
    let (none, symmetric) = (
        "eyJhbGciOiJub25lIn0",
        "eyJhbGciOiJIUzI1NiIsImtpZCI6Im9uZSJ9",
    );
    [
        VALID.to_owned(),
        format!("{VALID}\n{KEYS}"),
        format!("{none}.{}.", parts[1]),
        format!("{symmetric}.{}.{}", parts[1], parts[2]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(86)),
        format!("{VALID}\n{}", KEYS.replace("one", "two")),
    ]
    .map(String::into_bytes)
    .into()
}

fn run_token(input: &[u8]) -> Result<Signature, String> {
    let text = String::from_utf8_lossy(input);
    let (token, keys) = text.split_once('\n').unwrap_or((&text, KEYS));
    let set = match KeySet::from_json(keys.as_bytes()) {
        Ok(set) => set,
        Err(error) => return Ok(kind_of(&error.to_string())),
    };
    match set.verify(token, ISSUER) {
        // Another key set may be of whoever signed the token.
        Ok(claims) if token == VALID || keys != KEYS => Ok(digest(claims.as_bytes())),
        Ok(claims) => Err(format!(
            "a token is valid that was not signed: {token} {claims}"
        )),
        Err(error) => Ok(kind_of(&error.to_string())),
    }
}
