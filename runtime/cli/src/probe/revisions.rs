//! Tries each lifecycle and protocol version of a server.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mcp_revisions_core::{ErrorObject, Json, Lifecycle, Revision, methods};
use serde_json::{Value, json};

use super::link::{ProbeLink, ServerReply, shown};
use super::state::{Conversation, Probe, ProbeMessage, RevisionTrial};
use super::{handshake, judge, per_request, sign_in};

/// A version that no revision has, as the specification's example has it.
pub(super) const UNKNOWN: &str = "1900-01-01";
/// Factor of the time of the first answer that later ones of the same server may take.
const SLOWER: u32 = 5;
/// The least time for an answer to a request that a server may not know.
const SILENCE: Duration = Duration::from_secs(4);

/// Tries each revision, the latest first. Breaks if the server answers no message of MCP.
pub(super) async fn run(probe: &mut Probe) -> ControlFlow<()> {
    let order = || Revision::NEGOTIATED.iter().rev().copied();
    let (shakes, others): (Vec<Revision>, Vec<Revision>) =
        order().partition(|it| it.lifecycle() == Lifecycle::Handshake);
    for (at, &revision) in shakes.iter().enumerate() {
        trial(probe, revision).await?;
        if at == 0 {
            for &revision in &others {
                trial(probe, revision).await?;
            }
        }
    }
    probe.trials.sort_by_key(|trial| trial.revision);
    if !probe.is_reached {
        let last = probe.trials.last();
        let why = last.map_or(String::new(), |trial| trial.detail.clone());
        let target = probe.target.clone();
        if matches!(&probe.link, ProbeLink::Stdio(_)) {
            probe.report("start", None, target, with_errors(probe, why));
        } else {
            probe.report("answer", None, target, why);
        }
        return ControlFlow::Break(());
    }
    echoed(probe).await;
    readiness(probe);
    ControlFlow::Continue(())
}

/// Returns a text with the last lines of the server's standard error.
pub(super) fn with_errors(probe: &Probe, why: String) -> String {
    let ProbeLink::Stdio(stdio) = &probe.link else {
        return why;
    };
    let stray = stdio
        .stray
        .iter()
        .map(|line| format!("; on standard output {:?}", shown(line)));
    let why = std::iter::once(why).chain(stray).collect::<String>();
    if why.contains("\n") || why.contains("): ") {
        return why;
    }
    let errors = stdio.last_errors();
    if errors.is_empty() {
        why
    } else {
        format!("{why}; on standard error {errors:?}")
    }
}

/// Opens a conversation; over stdio it is a process of its own.
pub(super) async fn open(probe: &mut Probe) -> Result<(), String> {
    match &mut probe.link {
        ProbeLink::Http(_) => Ok(()),
        ProbeLink::Stdio(stdio) => stdio.restart().await.map_err(|why| why.to_string()),
    }
}

async fn trial(probe: &mut Probe, revision: Revision) -> ControlFlow<()> {
    let (method, params) = first(revision, revision.protocol_version());
    let mut conversation = Conversation {
        revision,
        session: None,
    };
    let begun = Instant::now();
    let reply = match open(probe).await {
        Ok(()) => ask_first(probe, &conversation, method, params.clone()).await,
        Err(why) => {
            probe.report("start", None, probe.target.clone(), why);
            return ControlFlow::Break(());
        }
    };
    let reply = over_events(probe, &conversation, (method, params), reply).await;
    if let Some(401 | 403) = reply.status
        && reply.text.is_none()
    {
        return sign_in::run(probe, &reply).await;
    }
    let is_first = !probe.is_reached && reply.text.is_some();
    if is_first {
        probe.is_reached = true;
        if matches!(probe.link, ProbeLink::Stdio(_)) {
            probe.step("first answer", begun.elapsed(), reply.line());
        }
        // A server that takes long to start takes as long for the next conversation.
        probe.patience = probe.patience.min((begun.elapsed() * SLOWER).max(SILENCE));
    }
    let result = reply.result();
    let version = result
        .as_ref()
        .and_then(|result| spoken_version(revision, result));
    conversation.session = reply.header("mcp-session-id").map(str::to_owned);
    let is_spoken = version.as_deref() == Some(revision.protocol_version());
    probe.trials.push(RevisionTrial {
        revision,
        method,
        version,
        detail: detail(&reply, result.as_ref()),
    });
    if let Some(result) = result.filter(|_| is_spoken) {
        judge::reply(probe, &conversation, method, &reply);
        learn(probe, &result);
        let is_latest = !probe
            .pages
            .iter()
            .any(|it| it.revision.lifecycle() == revision.lifecycle());
        match revision.lifecycle() {
            Lifecycle::Handshake => {
                handshake::run(probe, conversation, &reply, &result, is_latest).await
            }
            Lifecycle::PerRequest => per_request::run(probe, &conversation, &result).await,
        }
    } else if let Some(session) = conversation.session {
        handshake::close(probe, revision, &session).await;
    } else if revision.lifecycle() == Lifecycle::PerRequest {
        undiscovered(probe, &conversation, &reply).await;
    }
    if let ProbeLink::Stdio(stdio) = &mut probe.link {
        for line in std::mem::take(&mut stdio.stray) {
            let found = format!("{:?}", shown(&line));
            probe.report("stdout", revision, "standard output", found);
        }
    }
    ControlFlow::Continue(())
}

/// Sends a first message again over HTTP+SSE, where the server speaks that in place of streamable HTTP.
async fn over_events(
    probe: &mut Probe,
    conversation: &Conversation,
    (method, params): (&str, Value),
    reply: ServerReply,
) -> ServerReply {
    let is_refused = matches!(reply.status, Some(400 | 404 | 405)) && reply.text.is_none();
    let is_tried = method == methods::INITIALIZE && !probe.is_reached && is_refused;
    let ProbeLink::Http(http) = &mut probe.link else {
        return reply;
    };
    // Each session there is a stream.
    if !(is_tried || http.events.is_some()) || !http.open_events(probe.patience).await {
        return reply;
    }
    let url = http.url.clone();
    probe.report("http-sse", Revision::LATEST, url, "it speaks HTTP+SSE only");
    ask_first(probe, conversation, method, params).await
}

/// Sends a first message, whose reply is looked at once it says that the server speaks the revision.
async fn ask_first(
    probe: &mut Probe,
    conversation: &Conversation,
    method: &str,
    params: Value,
) -> ServerReply {
    let message = ProbeMessage::new(conversation.revision, method, params).faulty();
    probe.send(conversation, message).await
}

/// Returns the first request of a revision, which names this version.
fn first(revision: Revision, version: &str) -> (&'static str, Value) {
    match revision.lifecycle() {
        Lifecycle::PerRequest => (methods::SERVER_DISCOVER, json!({})),
        Lifecycle::Handshake => {
            let info = json!({ "name": "mcp-rev", "version": env!("CARGO_PKG_VERSION") });
            let params =
                json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
            (methods::INITIALIZE, params)
        }
    }
}

/// Returns the version that a server will speak after its first answer.
fn spoken_version(revision: Revision, result: &Value) -> Option<String> {
    match revision.lifecycle() {
        Lifecycle::Handshake => result.get("protocolVersion")?.as_str().map(str::to_owned),
        Lifecycle::PerRequest => {
            let own = revision.protocol_version();
            let all = result.get("supportedVersions")?.as_array()?;
            all.iter().any(|one| one == own).then(|| own.to_owned())
        }
    }
}

fn detail(reply: &ServerReply, result: Option<&Value>) -> String {
    let versions = |all: &Value| {
        let texts = all.as_array()?.iter().filter_map(Value::as_str);
        Some(shown(&texts.collect::<Vec<_>>().join(", ")))
    };
    match result {
        None => {
            let error = reply.error().unwrap_or_default();
            let named = error
                .get("data")
                .and_then(|data| versions(data.get("supported")?));
            match named {
                Some(named) => format!("{}; it speaks {named}", reply.line()),
                None => reply.line(),
            }
        }
        Some(result) => {
            let version = result.get("protocolVersion").and_then(Value::as_str);
            let all = result.get("supportedVersions").and_then(versions);
            let named = version.map(shown).or(all).unwrap_or_default();
            format!("answers {named}")
        }
    }
}

/// Keeps the name of the server.
fn learn(probe: &mut Probe, result: &Value) {
    let info = result.get("serverInfo").or_else(|| {
        let meta = result.get("_meta")?;
        meta.get(mcp_wire::meta::SERVER_INFO)
    });
    if probe.server.is_none() {
        probe.server = info.cloned();
    }
}

/// Checks that a server does not accept any version as its own.
async fn echoed(probe: &mut Probe) {
    let Some(latest) = probe
        .spoken()
        .filter(|it| it.lifecycle() == Lifecycle::Handshake)
        .max()
    else {
        return;
    };
    let conversation = Conversation {
        revision: latest,
        session: None,
    };
    let (method, params) = first(latest, UNKNOWN);
    if open(probe).await.is_err() {
        return;
    }
    if let ProbeLink::Http(http) = &mut probe.link
        && http.events.is_some()
        && !http.open_events(probe.patience).await
    {
        return;
    }
    let reply = ask_first(probe, &conversation, method, params).await;
    let version = reply
        .result()
        .and_then(|result| spoken_version(latest, &result));
    if version.as_deref() == Some(UNKNOWN) {
        let found = format!("it takes `{UNKNOWN}`, which no revision has, as its own");
        probe.report("negotiation", latest, method, found);
    }
    if let Some(session) = reply.header("mcp-session-id") {
        handshake::close(probe, latest, session).await;
    }
}

/// Reports a server that does not speak the latest revision, with the reason.
fn readiness(probe: &mut Probe) {
    let Some(&latest) = Revision::NEGOTIATED.last() else {
        return;
    };
    let trial = probe.trials.iter().find(|trial| trial.revision == latest);
    let Some(trial) = trial.filter(|trial| !trial.is_spoken()) else {
        return;
    };
    let (method, detail) = (trial.method, trial.detail.clone());
    probe.report("latest", latest, method, detail);
}

/// Checks whether a server that refuses `server/discover` speaks the per-request lifecycle all the same.
async fn undiscovered(probe: &mut Probe, conversation: &Conversation, reply: &ServerReply) {
    let found = match (reply.result(), reply.code()) {
        (Some(_), _) => "`supportedVersions` lacks the version that it was asked in".to_owned(),
        (None, Some(ErrorObject::METHOD_NOT_FOUND)) => {
            let listed = ask_first(probe, conversation, methods::TOOLS_LIST, json!({})).await;
            if listed
                .result()
                .is_none_or(|listed| listed.get("resultType").is_none())
            {
                return;
            }
            let answer = reply.line();
            format!("{answer}, though `tools/list` has a result of this revision")
        }
        _ => return,
    };
    probe.report(
        "discover",
        conversation.revision,
        methods::SERVER_DISCOVER,
        found,
    );
}

/// Returns the capabilities that a first result declares.
pub(super) fn capabilities(result: &Value) -> Json {
    let declared = result.get("capabilities").cloned().unwrap_or_default();
    Json::from(declared)
}
