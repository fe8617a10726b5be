//! The sign-in: challenges, and flows against servers that answer anything. No request leaves without TLS, since the server has TLS.

use mcp_revisions_auth::{
    Cause, Challenge, Entropy, Flow, FlowResponse, FlowStep, RefusedRequest, Settings, StoredSignIn,
};

use super::{Signature, Target, digest, kind_of};

pub(super) const CHALLENGE: Target = Target {
    name: "challenge",
    corpus: || {
        CHALLENGES
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect()
    },
    run: run_challenge,
};

pub(super) const FLOW: Target = Target {
    name: "sign-in",
    corpus: flow_corpus,
    run: run_flow,
};

const SERVER: &str = "https://mcp.example/x/mcp";

const CHALLENGES: &[&str] = &[
    r#"Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/x/mcp", scope="a b""#,
    r#"Bearer error="insufficient_scope", scope="files:read", error_description="more \"please\"""#,
    r#"Basic realm="a, b", Bearer realm=x, DPoP algs="ES256""#,
    "Negotiate YII=, Bearer",
    "bearer error=invalid_token",
];

fn run_challenge(input: &[u8]) -> Result<Signature, String> {
    let text = String::from_utf8_lossy(input);
    let all = Challenge::read(text.lines());
    let chosen = Challenge::choose(&all);
    let names = ["resource_metadata", "scope", "error", "error_description"];
    let found: Vec<bool> = (names.iter())
        .map(|name| chosen.is_some_and(|one| one.get(name).is_some()))
        .collect();
    Ok(digest(format!("{} {found:?}", all.len().min(5)).as_bytes()))
}

/// The challenge in the first line; each line below is the status and the body of the next response.
fn flow_corpus() -> Vec<Vec<u8>> {
    let resource = r#"200 {"resource":"https://mcp.example/x/mcp","authorization_servers":["https://auth.example"],"scopes_supported":["a"]}"#;
    let server = r#"200 {"issuer":"https://auth.example","authorization_endpoint":"https://auth.example/authorize","token_endpoint":"https://auth.example/token","registration_endpoint":"https://auth.example/register","code_challenge_methods_supported":["S256"],"grant_types_supported":["authorization_code","refresh_token"],"authorization_response_iss_parameter_supported":true}"#;
    let registered = r#"201 {"client_id":"c1","client_secret":"s","token_endpoint_auth_method":"client_secret_basic"}"#;
    let token = r#"200 {"access_token":"t0ken","token_type":"Bearer","expires_in":3600,"refresh_token":"r1","scope":"a"}"#;
    let error = r#"400 {"error":"invalid_grant","error_description":"expired"}"#;
    let query = "302 code=c0de&state={state}&iss=https%3A%2F%2Fauth.example";
    let first = CHALLENGES[0];
    [
        vec![first, resource, server, registered, query, token],
        vec![
            first,
            "404 ",
            "404 ",
            server,
            registered,
            "302 error=access_denied&state={state}",
        ],
        vec!["", resource, "404 ", server, registered, query, error],
        vec![first, resource, "500 ", "404 <html>"],
    ]
    .into_iter()
    .map(|lines| lines.join("\n").into_bytes())
    .collect()
}

fn run_flow(input: &[u8]) -> Result<Signature, String> {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.split('\n');
    let challenges = Challenge::read([lines.next().unwrap_or_default()]);
    let refused = RefusedRequest {
        status: 401,
        challenges,
        protocol_version: None,
        is_fresh: false,
    };
    let mut flow = Flow::new(
        Settings::new(SERVER),
        None,
        Cause::Refused(refused),
        Entropy([7; 96]),
    );
    let mut behaviour = String::new();
    let mut line = || {
        lines
            .next()
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
    };
    for _ in 0..200 {
        match flow.step(1_790_000_000) {
            FlowStep::Send(request) => {
                if !request.url.starts_with("https://") {
                    return Err(format!("sends a request to {}", request.url));
                }
                let is_one_line = |text: &str| !text.contains(['\r', '\n', '\0']);
                if !is_one_line(&request.url)
                    || !request.headers.iter().all(|(_, value)| is_one_line(value))
                {
                    return Err(format!("a request of two lines: {}", request.url));
                }
                behaviour.push_str(&format!("{:?}", request.purpose));
                flow.answered(match line() {
                    Some((status, body)) => Ok(FlowResponse {
                        status: status.parse().unwrap_or(200),
                        dpop_nonce: None,
                        body: body.as_bytes().to_vec(),
                    }),
                    None => Err("no route".to_owned()),
                });
            }
            FlowStep::Wait(..) => flow.waited(),
            FlowStep::Listen(_) => flow.listening("http://127.0.0.1:50000/callback"),
            FlowStep::Open(page) => {
                let (_, query) = line().unwrap_or_default();
                flow.returned(query.replace("{state}", page.state.expose()));
                behaviour.push_str("Open");
            }
            FlowStep::Keep(kept) => {
                keeps(&kept)?;
                flow.kept();
            }
            FlowStep::Done(kept) => {
                keeps(&kept)?;
                return Ok(digest((behaviour + "Done").as_bytes()));
            }
            FlowStep::Failed(error) => {
                let shown = error.to_string();
                if shown.chars().any(char::is_control) {
                    return Err(format!("an error with control characters: {shown:?}"));
                }
                return Ok(digest(behaviour.as_bytes()) ^ kind_of(&shown));
            }
        }
    }
    Err("a flow of more than 200 steps".to_owned())
}

/// What is kept is read back as it was.
fn keeps(kept: &StoredSignIn) -> Result<(), String> {
    let text = kept.to_json();
    match StoredSignIn::from_json(&text) {
        Ok(again) if again == *kept => Ok(()),
        Ok(_) => Err("what is kept is read back as something else".to_owned()),
        Err(error) => Err(format!("what is kept cannot be read: {error}")),
    }
}
