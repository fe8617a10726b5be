//! The connection to the examined server: sends one message at a time over HTTP, HTTP+SSE or standard streams, and returns the
//! reply with all messages before it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcp_revisions::client_transport::{Incoming, Transport};
use mcp_revisions::sansio::client::{Exchange, Post};
use mcp_revisions::sansio::driver::own_id;
use mcp_revisions::service::client::{Child, RawHttp, RawResponse};
use mcp_revisions_core::{MessageKind, peek};
use mcp_wire::excerpt;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Maximum number of bytes of a message.
pub(super) const LIMIT: usize = 16 << 20;
/// Number of lines of standard error in a report, the last ones.
const LAST_LINES: usize = 8;
/// Time that a process has to end by itself.
const GRACE: Duration = Duration::from_secs(6);
/// Number of lines on standard output without a message in a report.
const STRAY_LINES: usize = 3;
/// Maximum number of messages that are read for one reply.
const BEFORE: usize = 1000;
/// Maximum number of characters of a text of the server in the report.
const SHOWN: usize = 160;

/// Returns a text of the server as the report shows it.
pub(super) fn shown(text: &str) -> String {
    excerpt(text.trim(), SHOWN)
}

/// The reply to one message.
#[derive(Debug, Default)]
pub(super) struct ServerReply {
    /// The status of HTTP.
    pub(super) status: Option<u16>,
    /// The headers, names in lower case.
    pub(super) headers: Vec<(String, String)>,
    /// Set if the body is a stream of events.
    pub(super) is_stream: bool,
    /// The id of the last event.
    pub(super) last_event: Option<String>,
    /// The response: the message that answers, as it came.
    pub(super) text: Option<String>,
    /// Messages before the response.
    pub(super) others: Vec<String>,
    /// The body, if it is not a message of MCP; else empty.
    pub(super) body: String,
    /// The reason why the server did not answer.
    pub(super) failure: Option<String>,
    pub(super) took: Duration,
    /// The id of the request.
    pub(super) id: i64,
}

impl ServerReply {
    fn failed(failure: impl Into<String>) -> Self {
        Self {
            failure: Some(failure.into()),
            ..Self::default()
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    fn member(&self, name: &str) -> Option<Value> {
        let mut message: Value = serde_json::from_str(self.text.as_ref()?).ok()?;
        let member = message.get_mut(name)?;
        (!member.is_null()).then(|| member.take())
    }

    pub(super) fn result(&self) -> Option<Value> {
        self.member("result")
    }

    /// Returns the error of the response.
    pub(super) fn error(&self) -> Option<Value> {
        self.member("error")
    }

    pub(super) fn code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_i64()
    }

    /// Returns whether it is this error, over HTTP with this status.
    pub(super) fn is_error(&self, code: i64, status: u16) -> bool {
        self.code() == Some(code) && self.status.is_none_or(|own| own == status)
    }

    /// Returns whether HTTP says that the message was taken.
    pub(super) fn is_success(&self) -> bool {
        self.status
            .is_none_or(|status| (200..300).contains(&status))
    }

    /// Describes the reply in a line.
    pub(super) fn line(&self) -> String {
        let status = self.status.map(|status| format!("status {status}"));
        let what = match (self.error(), self.result(), &self.failure) {
            (Some(error), ..) => {
                let message = error.get("message").and_then(Value::as_str);
                let code = error.get("code").map_or(String::new(), Value::to_string);
                Some(format!(
                    "error {code} {:?}",
                    shown(message.unwrap_or_default())
                ))
            }
            (None, Some(_), _) => Some("a result".to_owned()),
            (None, None, Some(failure)) => Some(shown(failure)),
            (None, None, None) if self.body.trim().is_empty() => None,
            (None, None, None) => Some(format!("the body {:?}", shown(&self.body))),
        };
        let parts: Vec<String> = status.into_iter().chain(what).collect();
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join(", ")
        }
    }

    /// Stores a text of the server, and returns whether it is the response to the request of this id. The only message of a body
    /// is the response with any id: a check compares the id.
    fn take(&mut self, text: String, id: Option<i64>, is_only: bool) -> bool {
        let Ok(message) = peek(text.as_bytes()) else {
            self.body.push_str(&text);
            return false;
        };
        let is_response = matches!(message.kind, MessageKind::Response | MessageKind::Error);
        let own = message.id.and_then(|own| own_id(&own.to_id()?));
        if is_response && id.is_some() && (is_only || own.is_none() || own == id) {
            self.text = Some(text);
            return true;
        }
        self.others.push(text);
        false
    }
}

/// A server, and its transport.
pub(super) enum ProbeLink {
    Http(Box<HttpLink>),
    Stdio(Box<StdioLink>),
}

/// A server over HTTP.
pub(super) struct HttpLink {
    pub(super) raw: RawHttp,
    pub(super) url: String,
    /// Of a server that speaks HTTP+SSE: its stream, and the URL for messages.
    pub(super) events: Option<(RawResponse, String)>,
}

impl HttpLink {
    /// Sends one HTTP request, and reads the response to the message of this id.
    pub(super) async fn send(
        &mut self,
        verb: &str,
        headers: &[(String, String)],
        body: String,
        id: Option<i64>,
        within: Duration,
    ) -> ServerReply {
        let begun = Instant::now();
        let mut reply = ServerReply::default();
        let url = match &self.events {
            Some((_, url)) => url.clone(),
            None => self.url.clone(),
        };
        let work = async {
            let mut response = match self.raw.send(verb, &url, headers, body).await {
                Ok(response) => response,
                Err(why) => return reply.failure = Some(why),
            };
            reply.status = Some(response.status);
            reply.headers = std::mem::take(&mut response.headers);
            reply.is_stream = response.is_stream();
            if let (Some((events, _)), Some(id)) = (&mut self.events, id)
                && reply.is_success()
            {
                // The status is that of the POST, and not of the response, which comes on the stream.
                reply.status = None;
                read(&mut reply, events, Some(id)).await;
            } else if !reply.is_stream || id.is_some() {
                read(&mut reply, &mut response, id).await;
                reply.last_event = response.last_event().map(str::to_owned);
            }
        };
        let is_late = timeout(within, work).await.is_err();
        if is_late {
            reply.failure = Some(format!("no answer within {} s", within.as_secs()));
        }
        reply.took = begun.elapsed();
        reply
    }

    /// Opens the stream of a server that speaks HTTP+SSE; returns whether it does.
    pub(super) async fn open_events(&mut self, within: Duration) -> bool {
        let accept = [("Accept".to_owned(), "text/event-stream".to_owned())];
        let opening = async {
            let url = self.url.clone();
            let mut events = self
                .raw
                .send("GET", &url, &accept, String::new())
                .await
                .ok()?;
            if !events.is_stream() {
                return None;
            }
            let place = String::from_utf8(events.next().await?).ok()?;
            let url = self.raw.place(&place).filter(|_| events.was_endpoint())?;
            Some((events, url))
        };
        self.events = timeout(within, opening).await.ok().flatten();
        self.events.is_some()
    }
}

/// Reads a body up to the response.
async fn read(reply: &mut ServerReply, response: &mut RawResponse, id: Option<i64>) {
    for _ in 0..BEFORE {
        let Some(text) = response.next().await else {
            return;
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        if !text.trim().is_empty() && reply.take(text, id, !response.is_stream()) {
            return;
        }
    }
}

/// A server that is a process, started for each conversation.
pub(super) struct StdioLink {
    start: Box<dyn Fn() -> Child + Send>,
    process: Option<Transport>,
    /// The last lines of its standard error.
    pub(super) errors: Arc<Mutex<VecDeque<String>>>,
    /// Lines on its standard output that are no message.
    pub(super) stray: Vec<String>,
    /// Number of processes that were started.
    pub(super) starts: usize,
}

impl StdioLink {
    /// Creates the link to the server of a command.
    pub(super) fn new(start: impl Fn() -> Child + Send + 'static) -> Self {
        Self {
            start: Box::new(start),
            process: None,
            errors: Arc::default(),
            stray: Vec::new(),
            starts: 0,
        }
    }

    /// Starts a process, in place of the one before. Fails if it cannot be started.
    pub(super) async fn restart(&mut self) -> std::io::Result<()> {
        self.end().await;
        let errors = Arc::clone(&self.errors);
        let child = (self.start)()
            .without_restart()
            .with_grace(GRACE)
            .on_error_line(move |line| {
                let mut last = errors.lock().unwrap_or_else(PoisonError::into_inner);
                if !line.trim().is_empty() {
                    last.truncate(LAST_LINES - 1);
                    last.push_front(line.trim_end().to_owned());
                }
            });
        self.starts += 1;
        self.process = Some(Transport::child(child, LIMIT)?);
        Ok(())
    }

    /// Closes the input of the process, and returns the time until its end; `None` if it was killed, or none runs.
    pub(super) async fn end(&mut self) -> Option<Duration> {
        let process = self.process.take()?;
        let begun = Instant::now();
        process.end().await.ok()?;
        Some(begun.elapsed())
    }

    /// Sends a message, and waits for the response to this id.
    pub(super) async fn send(
        &mut self,
        text: String,
        id: Option<i64>,
        within: Duration,
    ) -> ServerReply {
        let begun = Instant::now();
        let mut reply = ServerReply::default();
        let Some(process) = &mut self.process else {
            return ServerReply::failed("the process has ended");
        };
        let kind = match id {
            Some(_) => MessageKind::Request,
            None => MessageKind::Notification,
        };
        process.send(line(text, kind));
        if id.is_none() {
            return reply;
        }
        let stray = &mut self.stray;
        let work = async {
            for _ in 0..BEFORE {
                match process.receive().await {
                    Incoming::Message { text, .. } => {
                        let text = String::from_utf8_lossy(&text).into_owned();
                        if peek(text.as_bytes()).is_err() {
                            if stray.len() < STRAY_LINES {
                                stray.push(text.trim().to_owned());
                            }
                            continue;
                        }
                        if let Some(answer) = answer(&text) {
                            process.send(line(answer, MessageKind::Response));
                        }
                        if reply.take(text, id, false) {
                            return None;
                        }
                    }
                    Incoming::Misframed(how) if stray.len() < STRAY_LINES => stray.push(how),
                    Incoming::Closed => return Some(process.exit().await),
                    _ => {}
                }
            }
            None
        };
        match timeout(within, work).await {
            Err(_) => reply.failure = Some(format!("no answer within {} s", within.as_secs())),
            Ok(Some(exit)) => {
                self.process = None;
                reply.failure = Some(format!("the process has ended{exit}"));
            }
            Ok(None) => {}
        }
        reply.took = begun.elapsed();
        reply
    }
}

/// Returns a line for the server.
fn line(text: String, kind: MessageKind) -> Post {
    Post {
        exchange: Exchange(0),
        kind,
        headers: Vec::new(),
        text,
        ends_handshake: false,
    }
}

/// Returns the answer to a request of the server, which a client without capabilities gives.
fn answer(text: &str) -> Option<String> {
    let message: Value = serde_json::from_str(text).ok()?;
    let (method, id) = (message.get("method")?.as_str()?, message.get("id")?);
    let answer = if method == mcp_revisions_core::methods::PING {
        json!({ "jsonrpc": "2.0", "id": id, "result": {} })
    } else {
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not a capability of this client" } })
    };
    Some(answer.to_string())
}

impl StdioLink {
    /// Returns the last lines of its standard error, the last one last.
    pub(super) fn last_errors(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<String> = errors.iter().rev().map(|line| shown(line)).collect();
        lines.join("\n")
    }
}
