//! The first words with a server: which revision it speaks, and what it is.

use std::time::{Duration, Instant};

use mcp_protocol::Revision;
use mcp_revisions::RevisionSet;
use mcp_revisions::carrier::Incoming;
use mcp_revisions::client::{Client, Connection, Event, Options, Output, ServerFacts};
use mcp_revisions::server::Caller;
use mcp_wire::peek;
use serde_json::Value;

use crate::Error;
use crate::bridge::Settings;
use crate::identity;
use crate::upstream::Line;

/// How long a server may take until it has said what it speaks.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many messages of a server are taken in before its client has sent a request.
const MEANWHILE: usize = 64;

/// The options of a connection to a server, on behalf of a client.
pub(super) fn options(settings: &Settings, caller: &Caller, revisions: RevisionSet) -> Options {
    let profile = identity::profile(caller, settings.client_info.as_ref());
    Options::new(settings.upstream.channel(), profile)
        .with_unknown_fields(settings.policy)
        .with_revisions(revisions)
        .with_other_methods()
}

/// A server that has said which revision it speaks.
pub(crate) struct Negotiated {
    pub(super) connection: Connection<Client>,
    pub(crate) line: Line,
    pub(super) start: Instant,
    /// What it is, in the revision that the bridge speaks with it.
    pub(crate) facts: ServerFacts,
}

impl Negotiated {
    /// Whether the server has ended since; what it has said meanwhile is taken in.
    pub(crate) async fn has_ended(&mut self) -> bool {
        for _ in 0..MEANWHILE {
            let Ok(came) = tokio::time::timeout(Duration::ZERO, self.line.next()).await else {
                return false;
            };
            let is_over = matches!(came, Incoming::Closed);
            hand_in(&mut self.connection, came, self.start.elapsed());
            if is_over {
                return true;
            }
        }
        false
    }

    /// Ends the server.
    pub(crate) async fn end(self) {
        self.line.end().await;
    }
}

/// Connects to the server, and asks it which revision it speaks, for a bridge that speaks the revision `app`.
pub(super) async fn negotiate_as(
    app: Revision,
    settings: &Settings,
    options: Options,
) -> Result<Negotiated, Error> {
    let mut connection = Connection::new(Client::new(app, options));
    let line = settings.upstream.connect().await;
    let mut line = line.map_err(|why| settings.unusable(&why))?;
    let start = Instant::now();
    let mut seen = Seen::default();
    let driven = driven(&mut connection, &mut line, start, &mut seen);
    let facts = match tokio::time::timeout(PATIENCE, driven).await {
        Ok(facts) => facts,
        Err(_) => Err(format!(
            "it did not say which revision it speaks within {} s",
            PATIENCE.as_secs()
        )),
    };
    match facts {
        Ok(facts) => Ok(Negotiated {
            connection,
            line,
            start,
            facts,
        }),
        Err(why) => {
            line.end().await;
            Err(settings.unusable(&seen.0.unwrap_or(why)))
        }
    }
}

/// What the server last did that is no answer, for people.
#[derive(Default)]
struct Seen(Option<String>);

/// How many characters of a body an error quotes.
const EXCERPT: usize = 200;

impl Seen {
    fn note(&mut self, came: &Incoming) {
        self.0 = match came {
            Incoming::Answered {
                status,
                body: Some(body),
                ..
            } => speaks(body).or_else(|| no_message(*status, body)),
            Incoming::Message { text, .. } => speaks(text),
            Incoming::Failed { why, .. } => Some(why.clone()),
            // What was said before says why.
            Incoming::Ended(_) => return,
            _ => None,
        };
    }
}

/// What a message says of why nothing came of it: an error, or revisions that are not wanted.
fn speaks(text: &[u8]) -> Option<String> {
    let seen = peek(text).ok()?;
    let Some(error) = seen.error else {
        let result: Value = serde_json::from_str(seen.result?.text()).ok()?;
        let spoken = named(&result["supportedVersions"]);
        let spoken = spoken.or_else(|| named(&result["protocolVersion"]))?;
        return Some(format!(
            "it speaks {spoken}, and none of that is wanted: choose another revision for the server"
        ));
    };
    let error: Value = serde_json::from_str(error.text()).ok()?;
    let (code, message) = (&error["code"], error["message"].as_str()?);
    let message: String = message.chars().take(EXCERPT).collect();
    let spoken = named(&error["data"]["supported"]);
    let spoken = spoken.map_or(String::new(), |spoken| format!("; it speaks {spoken}"));
    Some(format!("it refused with error {code}: {message:?}{spoken}"))
}

/// Revisions as a server names them: one, or a list.
fn named(spoken: &Value) -> Option<String> {
    let names: Vec<&str> = match spoken {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let names = names.join(", ");
    let excerpt: String = names.escape_debug().take(EXCERPT).collect();
    (!excerpt.is_empty()).then_some(excerpt)
}

/// What an answer over HTTP says in which there is no message.
fn no_message(status: u16, body: &[u8]) -> Option<String> {
    if peek(body).is_ok() || (body.is_empty() && (200..300).contains(&status)) {
        return None;
    }
    let hint = match status {
        401 | 403 => ": pass credentials in a header",
        404 | 405 => ": check the path of the URL",
        _ => "",
    };
    let text = String::from_utf8_lossy(body);
    let excerpt: String = text.trim().chars().take(EXCERPT).collect();
    let body = match excerpt.is_empty() {
        true => String::new(),
        false => format!("; the body is not a message of MCP: {excerpt:?}"),
    };
    Some(format!("it answered with HTTP status {status}{hint}{body}"))
}

async fn driven(
    connection: &mut Connection<Client>,
    line: &mut Line,
    start: Instant,
    seen: &mut Seen,
) -> Result<ServerFacts, String> {
    let connected = connection.connect(start.elapsed());
    connected.map_err(|why| why.to_string())?;
    let mut is_over = false;
    loop {
        while let Some(output) = connection.poll() {
            match output {
                Output::Send(post) => line.send(post),
                Output::Restart => match line.restart() {
                    true => is_over = false,
                    false => connection.closed(start.elapsed()),
                },
                Output::Event(Event::Settled(facts)) => return Ok(facts),
                Output::Close(exchange) => line.close(exchange),
                Output::Event(_) => {}
            }
        }
        if is_over {
            let status = line.exit().await;
            return Err(format!(
                "it ended before it said which revision it speaks{}",
                status.map_or(String::new(), |status| format!(" ({status})"))
            ));
        }
        if connection.pending() == 0 && connection.wake_at().is_none() {
            return Err(
                "it does not say which revision it speaks, or speaks none that is wanted"
                    .to_owned(),
            );
        }
        tokio::select! {
            came = line.next() => {
                is_over = matches!(came, Incoming::Closed);
                seen.note(&came);
                hand_in(connection, came, start.elapsed());
            }
            () = sleep_until(connection.wake_at(), start) => connection.wake(start.elapsed()),
        }
    }
}

/// Hands in what came.
pub(super) fn hand_in(connection: &mut Connection<Client>, came: Incoming, now: Duration) {
    match came {
        Incoming::Message { exchange, text } => {
            connection.receive(exchange, &text, now);
        }
        Incoming::Answered {
            exchange,
            status,
            session,
            body,
        } => connection.answered(exchange, status, session.as_deref(), body.as_deref(), now),
        Incoming::Ended(exchange) => connection.ended(exchange, now),
        Incoming::Failed { exchange, why } => connection.failed(exchange, why, now),
        Incoming::Closed => connection.closed(now),
    }
}

pub(super) async fn sleep_until(at: Option<Duration>, start: Instant) {
    match at {
        Some(at) => tokio::time::sleep(at.saturating_sub(start.elapsed())).await,
        None => std::future::pending().await,
    }
}
