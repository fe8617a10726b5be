//! The state of a probe: the facts about the server so far, and the messages that find out more.

use std::time::Duration;

use mcp_revisions::service::client::Http;
use mcp_revisions_core::headers::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, encoded, named_by};
use mcp_revisions_core::{Json, Lifecycle, ProtocolHeader, Revision, methods};
use mcp_wire::meta;
use serde_json::{Value, json};

use super::checks::{Checks, Finding, FindingSeverity};
use super::judge;
use super::link::{ProbeLink, ServerReply};
use crate::sign_in::SignInArguments;

/// Maximum number of messages and other HTTP requests of a probe.
const MESSAGES: usize = 400;

/// Time that a server has for an answer.
const ANSWER: Duration = Duration::from_secs(20);

/// A step on the way to the server.
#[derive(Debug)]
pub(super) struct ReachStep {
    pub(super) name: &'static str,
    pub(super) took: Duration,
    pub(super) detail: String,
}

/// The answer of a server that is asked for a revision.
#[derive(Debug)]
pub(super) struct RevisionTrial {
    pub(super) revision: Revision,
    /// The request.
    pub(super) method: &'static str,
    /// The version that it will speak; `None` if it refuses.
    pub(super) version: Option<String>,
    pub(super) detail: String,
}

impl RevisionTrial {
    /// Returns whether the server speaks the revision.
    pub(super) fn is_spoken(&self) -> bool {
        self.version.as_deref() == Some(self.revision.protocol_version())
    }
}

/// A page of a list, or another result, in the revision that it was read in.
#[derive(Debug)]
pub(super) struct ReadPage {
    pub(super) revision: Revision,
    pub(super) method: &'static str,
    pub(super) member: &'static str,
    pub(super) result: Json,
}

/// The sign-in that a server wants.
#[derive(Debug, Default)]
pub(super) struct WantedSignIn {
    pub(super) challenge: Option<String>,
    /// The requests for metadata, with their statuses.
    pub(super) requests: Vec<String>,
    /// The rules that apply and what a sign-in would do, in lines.
    pub(super) forecast: Vec<String>,
}

/// A client of one revision, at the bridge before the server.
#[derive(Debug)]
pub(super) struct BridgeRow {
    pub(super) client: Revision,
    pub(super) server: Revision,
    /// The rules by which results lose something, each with its severity, its count and a place.
    pub(super) losses: Vec<(String, String, usize, String)>,
}

/// A call that the user names.
#[derive(Debug, Clone)]
pub(super) struct NamedCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// The state of a probe.
pub(super) struct Probe {
    pub(super) target: String,
    pub(super) link: ProbeLink,
    pub(super) checks: Checks,
    pub(super) call: Option<NamedCall>,
    /// The server at a URL, until the way to it was looked at.
    pub(super) http: Option<Http>,
    /// The options of a sign-in to the server.
    pub(super) sign_in_arguments: Option<SignInArguments>,
    /// Time that a server has for its first answer.
    pub(super) patience: Duration,
    pub(super) messages: usize,
    pub(super) is_reached: bool,
    /// Set if a first `server/discover` over HTTP had a result: the named call is made in that lifecycle, which has headers for it.
    pub(super) is_discovered: bool,
    pub(super) steps: Vec<ReachStep>,
    pub(super) sign_in: Option<WantedSignIn>,
    pub(super) server: Option<Value>,
    pub(super) trials: Vec<RevisionTrial>,
    pub(super) pages: Vec<ReadPage>,
    /// Facts that are not findings.
    pub(super) facts: Vec<String>,
    pub(super) bridge: Vec<BridgeRow>,
    pub(super) findings: Vec<Finding>,
    next_id: i64,
}

/// A conversation in one revision.
#[derive(Debug, Clone)]
pub(super) struct Conversation {
    pub(super) revision: Revision,
    pub(super) session: Option<String>,
}

/// A request or a notification, with its intended faults.
pub(super) struct ProbeMessage<'a> {
    pub(super) method: &'a str,
    pub(super) params: Value,
    /// The protocol version that it names.
    pub(super) version: &'a str,
    /// Headers that are added, set otherwise, or left out.
    pub(super) headers: Vec<(String, Option<String>)>,
    /// Set if `_meta` has no capabilities.
    pub(super) lacks_capabilities: bool,
    /// Set if the reply is to be sound.
    pub(super) is_sound: bool,
}

impl<'a> ProbeMessage<'a> {
    /// Creates a sound message of a revision.
    pub(super) fn new(revision: Revision, method: &'a str, params: Value) -> Self {
        Self {
            method,
            params,
            version: revision.protocol_version(),
            headers: Vec::new(),
            lacks_capabilities: false,
            is_sound: true,
        }
    }

    /// Sets a header to a wrong value, or leaves it out.
    pub(super) fn with(mut self, name: &str, value: Option<&str>) -> Self {
        self.headers
            .push((name.to_owned(), value.map(str::to_owned)));
        self.faulty()
    }

    /// Marks the message as one whose reply says nothing of sound ones.
    pub(super) fn faulty(mut self) -> Self {
        self.is_sound = false;
        self
    }
}

impl Probe {
    /// Creates the probe of a server.
    pub(super) fn new(target: String, link: ProbeLink, checks: Checks) -> Self {
        Self {
            target,
            link,
            checks,
            call: None,
            http: None,
            sign_in_arguments: None,
            patience: ANSWER,
            messages: 0,
            is_reached: false,
            is_discovered: false,
            steps: Vec::new(),
            sign_in: None,
            server: None,
            trials: Vec::new(),
            pages: Vec::new(),
            facts: Vec::new(),
            bridge: Vec::new(),
            findings: Vec::new(),
            next_id: 1,
        }
    }

    /// Adds the finding of a check, once per place. Does nothing if the revision does not have its rule.
    pub(super) fn report(
        &mut self,
        id: &str,
        revision: impl Into<Option<Revision>>,
        place: impl Into<String>,
        found: impl Into<String>,
    ) {
        let (place, found) = (place.into(), found.into());
        let Some(check) = self.checks.find(id, revision.into()) else {
            return;
        };
        let is_known = |one: &&mut Finding| one.check.id == check.id && one.place == place;
        match self.findings.iter_mut().find(is_known) {
            Some(known)
                if check
                    .revision
                    .is_some_and(|it| known.revisions.contains(&it)) => {}
            Some(known) => known.revisions.extend(check.revision),
            None => self.findings.push(Finding {
                check: check.clone(),
                revisions: check.revision.into_iter().collect(),
                place,
                found,
            }),
        }
    }

    /// Adds a finding if a reply over HTTP has another status than this one.
    pub(super) fn report_status(
        &mut self,
        id: &str,
        revision: Revision,
        place: impl Into<String>,
        (status, reply): (u16, &ServerReply),
    ) {
        if reply.status != Some(status) && reply.failure.is_none() {
            self.report(id, revision, place, reply.line());
        }
    }

    pub(super) fn step(&mut self, name: &'static str, took: Duration, detail: impl Into<String>) {
        self.steps.push(ReachStep {
            name,
            took,
            detail: detail.into(),
        });
    }

    /// Returns the revisions that the server speaks.
    pub(super) fn spoken(&self) -> impl Iterator<Item = Revision> {
        let spoken = self.trials.iter().filter(|trial| trial.is_spoken());
        spoken.map(|trial| trial.revision)
    }

    /// Returns the latest revision, and why the server is not ready for it; `None` if it is.
    pub(super) fn readiness(&self) -> (Revision, Option<String>) {
        let latest = Revision::NEGOTIATED
            .last()
            .copied()
            .unwrap_or(Revision::LATEST);
        let mut errors = self.findings.iter().filter(|finding| {
            finding.revisions.contains(&latest) && finding.check.severity == FindingSeverity::Error
        });
        let trial = self.trials.iter().find(|trial| trial.revision == latest);
        let why = match trial {
            Some(trial) if trial.is_spoken() => {
                let first = errors.next();
                first.map(|it| format!("{}: {}, {}", it.check.id, it.place, it.found))
            }
            Some(trial) => Some(format!("{}: {}", trial.method, trial.detail)),
            None => Some("it was not asked".to_owned()),
        };
        (latest, why)
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(&self.link, ProbeLink::Http(http) if http.events.is_none())
    }

    /// Sends a sound request of a conversation.
    pub(super) async fn ask(
        &mut self,
        conversation: &Conversation,
        method: &str,
        params: Value,
    ) -> ServerReply {
        let message = ProbeMessage::new(conversation.revision, method, params);
        self.send(conversation, message).await
    }

    /// Sends a request, and looks at the reply.
    pub(super) async fn send(
        &mut self,
        conversation: &Conversation,
        message: ProbeMessage<'_>,
    ) -> ServerReply {
        let id = self.next_id;
        self.next_id += 1;
        let text = stamped(conversation, &message, Some(id));
        // The server may still be starting, or may ignore a method that it does not know.
        let is_first = [methods::INITIALIZE, methods::SERVER_DISCOVER].contains(&message.method);
        let within = if is_first { self.patience } else { ANSWER };
        let mut reply = self
            .exchange(conversation, &message, text, Some(id), within)
            .await;
        reply.id = id;
        if message.is_sound {
            judge::reply(self, conversation, message.method, &reply);
        }
        reply
    }

    /// Sends a notification.
    pub(super) async fn notify(
        &mut self,
        conversation: &Conversation,
        method: &str,
    ) -> ServerReply {
        let message = ProbeMessage::new(conversation.revision, method, json!({}));
        let text = stamped(conversation, &message, None);
        self.exchange(conversation, &message, text, None, ANSWER)
            .await
    }

    async fn exchange(
        &mut self,
        conversation: &Conversation,
        message: &ProbeMessage<'_>,
        text: String,
        id: Option<i64>,
        within: Duration,
    ) -> ServerReply {
        self.messages += 1;
        if self.messages > MESSAGES {
            return ServerReply {
                failure: Some(format!("not sent: {MESSAGES} messages were")),
                ..ServerReply::default()
            };
        }
        match &mut self.link {
            ProbeLink::Stdio(stdio) => stdio.send(text, id, within).await,
            ProbeLink::Http(http) => {
                let headers = headers(conversation, message);
                http.send("POST", &headers, text, id, within).await
            }
        }
    }

    /// Sends a request of HTTP without a message; nothing over stdio.
    pub(super) async fn http(&mut self, verb: &str, headers: Vec<(String, String)>) -> ServerReply {
        self.messages += 1;
        match &mut self.link {
            ProbeLink::Http(http) => {
                let sent = http.send(verb, &headers, String::new(), None, ANSWER);
                sent.await
            }
            ProbeLink::Stdio(_) => ServerReply::default(),
        }
    }
}

/// Returns the text of a message.
fn stamped(conversation: &Conversation, message: &ProbeMessage<'_>, id: Option<i64>) -> String {
    let mut params = message.params.clone();
    if conversation.revision.lifecycle() == Lifecycle::PerRequest && id.is_some() {
        let mut stamp = json!({
            meta::PROTOCOL_VERSION: message.version,
            meta::CLIENT_INFO: { "name": "mcp-rev", "version": env!("CARGO_PKG_VERSION") },
        });
        if !message.lacks_capabilities {
            stamp[meta::CLIENT_CAPABILITIES] = json!({});
        }
        params["_meta"] = stamp;
    }
    let mut text = json!({ "jsonrpc": "2.0", "method": message.method });
    if params.as_object().is_some_and(|params| !params.is_empty()) {
        text["params"] = params;
    }
    if let Some(id) = id {
        text["id"] = id.into();
    }
    text.to_string()
}

/// Returns the headers of a POST.
fn headers(conversation: &Conversation, message: &ProbeMessage<'_>) -> Vec<(String, String)> {
    let revision = conversation.revision;
    let mut all = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
    ];
    if revision.has_header(ProtocolHeader::McpProtocolVersion)
        && message.method != methods::INITIALIZE
    {
        all.push((PROTOCOL_VERSION, message.version.to_owned()));
    }
    if revision.has_header(ProtocolHeader::McpMethod) {
        all.push((METHOD, message.method.to_owned()));
    }
    let named = named_by(revision, message.method).and_then(|member| message.params.get(member));
    if let Some(name) = named.and_then(Value::as_str)
        && revision.has_header(ProtocolHeader::McpName)
    {
        all.push((NAME, encoded(name).into_owned()));
    }
    all.extend(
        conversation
            .session
            .clone()
            .map(|session| (SESSION_ID, session)),
    );
    all.retain(|(own, _)| {
        let mut changed = message.headers.iter();
        !changed.any(|(name, _)| own.eq_ignore_ascii_case(name))
    });
    let own = all
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let set = |(name, value): &(String, Option<String>)| Some((name.clone(), value.clone()?));
    own.chain(message.headers.iter().filter_map(set)).collect()
}
