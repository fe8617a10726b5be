//! Flows against servers that are tables: which requests are made, in which order, and what becomes of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

mod flows;
mod quirks;
mod rules;
mod secrets;

use std::collections::HashMap;

use mcp_revisions_auth::{
    Cause, Challenge, Entropy, Flow, FlowMethod, FlowPurpose, FlowReport, FlowRequest,
    FlowResponse, FlowStep, RefusedRequest, Settings, StoredSignIn,
};

const MCP: &str = "https://mcp.example/x/mcp";
const ISSUER: &str = "https://auth.example";

/// A world of servers: what each URL answers, and what the browser comes back with.
#[derive(Clone)]
struct World {
    answers: HashMap<String, (u16, String)>,
    /// The query of the redirect, or nothing if the browser does not come back; `{state}` is the state that was sent.
    returned: String,
    /// The members of a registration that the server refuses.
    refused: Vec<&'static str>,
    now: u64,
}

/// What a flow did.
struct Done {
    requests: Vec<String>,
    bodies: Vec<String>,
    page: Option<String>,
    /// Whether the page was open already.
    was_open: bool,
    report: FlowReport,
    /// The pages of device codes and the seconds of the waits.
    waits: Vec<(String, String, u64)>,
    /// What was kept last before the end.
    stored: Option<StoredSignIn>,
    /// What a process leaves that is ended while its page is open.
    left: Option<StoredSignIn>,
    outcome: Result<StoredSignIn, String>,
}

impl World {
    fn new() -> Self {
        Self {
            answers: HashMap::new(),
            returned: "code=c0de&state={state}".to_owned(),
            refused: Vec::new(),
            now: 1_790_000_000,
        }
    }

    /// Servers of the latest revision.
    fn latest() -> Self {
        let metadata = format!(
            r#"{{"issuer":"{ISSUER}","authorization_endpoint":"{ISSUER}/authorize","token_endpoint":"{ISSUER}/token",
            "registration_endpoint":"{ISSUER}/register","code_challenge_methods_supported":["S256"]}}"#
        );
        Self::new()
            .with(
                "https://mcp.example/.well-known/oauth-protected-resource/x/mcp",
                200,
                &format!(r#"{{"resource":"{MCP}","authorization_servers":["{ISSUER}"]}}"#),
            )
            .with(&format!("{ISSUER}/.well-known/oauth-authorization-server"), 200, &metadata)
            .with(&format!("{ISSUER}/register"), 201, r#"{"client_id":"c1"}"#)
            .with(
                &format!("{ISSUER}/token"),
                200,
                r#"{"access_token":"t0ken","token_type":"bearer","expires_in":"3600","refresh_token":"r1"}"#,
            )
    }

    fn with(mut self, url: &str, status: u16, body: &str) -> Self {
        self.answers
            .insert(url.to_owned(), (status, body.to_owned()));
        self
    }

    fn run(&self, settings: Settings, kept: Option<StoredSignIn>, cause: Cause) -> Done {
        let mut flow = Flow::new(settings, kept, cause, Entropy([7; 96]));
        let mut done = Done {
            requests: Vec::new(),
            bodies: Vec::new(),
            page: None,
            was_open: false,
            report: FlowReport::default(),
            waits: Vec::new(),
            stored: None,
            left: None,
            outcome: Err(String::new()),
        };
        let mut now = self.now;
        for _ in 0..1_000 {
            match flow.step(now) {
                FlowStep::Send(request) => {
                    done.requests.push(shown(&request));
                    done.bodies.push(request.body.clone().unwrap_or_default());
                    let waited = format!("{} {}", request.url, done.waits.len());
                    let found = self.answers.get(&waited);
                    let found = found.or_else(|| self.answers.get(&request.url));
                    let (status, body) = found.cloned().unwrap_or((404, String::new()));
                    let mut refused = self.refused.iter();
                    let sent = request.body.as_deref().unwrap_or_default();
                    let (status, body) = match refused.find(|it| sent.contains(**it)) {
                        Some(member) if request.purpose == FlowPurpose::Registration => (
                            400,
                            format!(
                                r#"{{"error":"invalid_client_metadata","message":"no {member}"}}"#
                            ),
                        ),
                        _ => (status, body),
                    };
                    flow.answered(match status {
                        0 => Err("no route".to_owned()),
                        status => Ok(FlowResponse {
                            status,
                            dpop_nonce: None,
                            body: body.into_bytes(),
                        }),
                    });
                }
                FlowStep::Listen(_) => flow.listening("http://127.0.0.1:50000/callback"),
                FlowStep::Keep(kept) => {
                    let is_open = kept.pending.as_ref().is_some_and(|it| it.is_open(now));
                    if is_open {
                        done.left = Some((*kept).clone());
                    }
                    done.stored = Some(*kept);
                    flow.kept();
                }
                FlowStep::Wait(page, seconds) => {
                    done.waits.push((page.url, page.code, seconds));
                    now += seconds;
                    flow.waited();
                }
                FlowStep::Open(_) if self.returned.is_empty() => {
                    flow.answered(Err("no sign-in came back".to_owned()));
                }
                FlowStep::Open(page) => {
                    flow.returned(self.returned.replace("{state}", page.state.expose()));
                    (done.page, done.was_open) = (Some(page.url), page.is_open);
                }
                FlowStep::Done(kept) => {
                    (done.outcome, done.report) = (Ok(*kept), flow.report());
                    return done;
                }
                FlowStep::Failed(error) => {
                    done.outcome = Err(error.to_string());
                    return done;
                }
            }
        }
        panic!("a flow that does not end: {:?}", done.requests);
    }

    /// Signs in after a response 401 with this challenge.
    fn sign_in(&self, challenge: &str) -> Done {
        self.run(Settings::new(MCP), None, unauthorized(challenge))
    }
}

fn unauthorized(challenge: &str) -> Cause {
    refused(401, challenge)
}

fn refused(status: u16, challenge: &str) -> Cause {
    Cause::Refused(RefusedRequest {
        status,
        challenges: Challenge::read([challenge]),
        protocol_version: Some("2025-11-25".to_owned()),
        is_fresh: false,
    })
}

fn shown(request: &FlowRequest) -> String {
    let method = match request.method {
        FlowMethod::Get => "GET",
        FlowMethod::Post => "POST",
    };
    let url = request.url.replace("https://", "");
    format!("{method} {url}")
}
