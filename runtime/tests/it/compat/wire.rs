//! A client's end of stdio or HTTP: messages go out one by one, and whatever comes back comes in one queue.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use mcp_revisions::http::Service;
use mcp_revisions::{Revision, stdio};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tower::ServiceExt;

use crate::compat::handlers::{Handlers, server};

pub(crate) struct Wire {
    pub(crate) place: String,
    line: Line,
    queue: mpsc::UnboundedReceiver<Value>,
    /// What came and was not asked for yet.
    kept: Vec<Value>,
}

enum Line {
    Stdio(DuplexStream),
    Http {
        post: Box<dyn Fn(Request<Full<Bytes>>) -> AbortHandle + Send>,
        session: Arc<Mutex<Option<String>>>,
        open: Vec<(Value, AbortHandle)>,
    },
}

impl Wire {
    pub(crate) fn open(app: Revision, over: &str, place: &str) -> Self {
        let handlers = Handlers::new(app.lifecycle());
        let (texts, queue) = mpsc::unbounded_channel();
        let line = match over {
            "stdio" => {
                let (to, input) = tokio::io::duplex(1 << 16);
                let (output, from) = tokio::io::duplex(1 << 16);
                crate::support::spawn(stdio::serve_on(server(app), handlers, input, output));
                crate::support::spawn(async move {
                    let mut lines = BufReader::new(from).lines();
                    while let Ok(Some(line)) = lines.next_line().await {
                        let _ = texts.send(serde_json::from_str(&line).unwrap());
                    }
                });
                Line::Stdio(to)
            }
            _ => {
                let service = Service::new(server(app), handlers);
                let session = Arc::new(Mutex::new(None));
                let kept = Arc::clone(&session);
                let post = move |request: Request<Full<Bytes>>| {
                    let (service, texts) = (service.clone(), texts.clone());
                    let kept = Arc::clone(&kept);
                    let reading = async move {
                        let response = service.oneshot(request).await.unwrap();
                        if let Some(id) = response.headers().get("mcp-session-id") {
                            *kept.lock().unwrap() = Some(id.to_str().unwrap().to_owned());
                        }
                        let mut body = response.into_body();
                        let mut text = String::new();
                        while let Some(frame) = body.frame().await {
                            let data = frame.unwrap().into_data().unwrap_or_default();
                            text.push_str(std::str::from_utf8(&data).unwrap());
                            while let Some((event, rest)) = text.split_once("\n\n") {
                                let data =
                                    event.lines().filter_map(|line| line.strip_prefix("data: "));
                                for data in data.filter(|data| !data.is_empty()) {
                                    let _ = texts.send(serde_json::from_str(data).unwrap());
                                }
                                text = rest.to_owned();
                            }
                        }
                        if !text.trim().is_empty() {
                            let _ = texts.send(serde_json::from_str(&text).unwrap());
                        }
                    };
                    crate::support::spawn(reading).abort_handle()
                };
                Line::Http {
                    post: Box::new(post),
                    session,
                    open: Vec::new(),
                }
            }
        };
        Self {
            place: place.to_owned(),
            line,
            queue,
            kept: Vec::new(),
        }
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.line, Line::Http { .. })
    }

    pub(crate) async fn send(&mut self, message: Value) {
        match &mut self.line {
            Line::Stdio(to) => {
                to.write_all(format!("{message}\n").as_bytes())
                    .await
                    .unwrap();
            }
            Line::Http {
                post,
                session,
                open,
            } => {
                let mut request = request(Method::POST, &session.lock().unwrap());
                let params = &message["params"];
                if let Some(claim) =
                    params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()
                {
                    request = request
                        .header("MCP-Protocol-Version", claim)
                        .header("Mcp-Method", message["method"].as_str().unwrap());
                    if let Some(name) = params["name"].as_str() {
                        request = request.header("Mcp-Name", name);
                    }
                }
                let id = message["id"].clone();
                open.push((
                    id,
                    post(request.body(Full::from(message.to_string())).unwrap()),
                ));
            }
        }
    }

    /// The stream of the session, over HTTP.
    pub(crate) fn open_stream(&mut self) {
        if let Line::Http { post, session, .. } = &mut self.line {
            let request = request(Method::GET, &session.lock().unwrap());
            post(request.body(Full::default()).unwrap());
        }
    }

    /// Does not wait any more for the response to a request.
    pub(crate) fn hang_up(&mut self, id: &Value) {
        if let Line::Http { open, .. } = &mut self.line {
            for (_, reading) in open.iter().filter(|(one, _)| one == id) {
                reading.abort();
            }
        }
    }

    /// The next message that is wanted; the others wait for their turn.
    pub(crate) async fn until(&mut self, what: &str, wants: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&wants) {
            return self.kept.remove(index);
        }
        loop {
            let next = tokio::time::timeout(Duration::from_secs(20), self.queue.recv()).await;
            let message = match next {
                Ok(Some(message)) => message,
                _ => panic!("{}: no {what}; there were {:?}", self.place, self.kept),
            };
            if wants(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        let what = format!("answer to {id}");
        self.until(&what, |message| {
            message["id"] == id && message.get("method").is_none()
        })
        .await
    }

    pub(crate) async fn method(&mut self, method: &str) -> Value {
        self.until(method, |message| message["method"] == method)
            .await
    }

    /// What came and was not asked for is not asked for any more.
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
    }

    /// How many messages of a kind have come and were not asked for.
    pub(crate) fn left(&self, is_it: impl Fn(&Value) -> bool) -> usize {
        self.kept.iter().filter(|message| is_it(message)).count()
    }
}

fn request(method: Method, session: &Option<String>) -> http::request::Builder {
    let request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    match session {
        Some(id) => request.header("Mcp-Session-Id", id),
        None => request,
    }
}
