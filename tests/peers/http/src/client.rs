//! A client that calls one tool of a server over HTTP.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// What went wrong.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the requests of a client are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Of a session of 2025-11-25.
    Sessions,
    /// Of 2025-11-25, without a session.
    Stateless,
    /// Of 2026-07-28.
    PerRequest,
}

/// One connection, and what each request on it says in its headers.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    port: u16,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    /// Connects, and opens a session where there are any.
    ///
    /// # Errors
    /// A server that cannot be reached, or opens no session.
    pub async fn connect(port: u16, mode: Mode) -> Result<Self, Failure> {
        let mut client = Self::over(port, Vec::new()).await?;
        match mode {
            Mode::Sessions => client.open().await?,
            Mode::Stateless => client.say("mcp-protocol-version", "2025-11-25"),
            Mode::PerRequest => {
                client.say("mcp-protocol-version", "2026-07-28");
                client.say("mcp-method", "tools/call");
                client.say("mcp-name", "add");
            }
        }
        Ok(client)
    }

    /// Connects the same client to another server.
    ///
    /// # Errors
    /// A server that cannot be reached.
    pub async fn at(&self, port: u16) -> Result<Self, Failure> {
        Self::over(port, self.headers.clone()).await
    }

    async fn over(port: u16, headers: Vec<(&'static str, String)>) -> Result<Self, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self {
            sender,
            port,
            headers,
        })
    }

    fn say(&mut self, name: &'static str, value: &str) {
        self.headers.push((name, value.to_owned()));
    }

    async fn open(&mut self) -> Result<(), Failure> {
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}},
        });
        let answer = self.post(&hello).await?;
        let id = answer
            .headers()
            .get("mcp-session-id")
            .ok_or("no session")?
            .to_str()?
            .to_owned();
        answer.into_body().collect().await?;
        self.say("mcp-session-id", &id);
        self.say("mcp-protocol-version", "2025-11-25");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&done).await?.into_body().collect().await?;
        Ok(())
    }

    async fn post(&mut self, message: &Value) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::post("/mcp")
            .header("host", format!("127.0.0.1:{}", self.port))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        self.sender.ready().await?;
        Ok(self
            .sender
            .send_request(request.body(Full::from(message.to_string()))?)
            .await?)
    }

    /// Calls the tool, and sees to it that its answer is right.
    ///
    /// # Errors
    /// Any other answer.
    pub async fn call(&mut self, mode: Mode, number: u64) -> Result<(), Failure> {
        let mut params = json!({"name": "add", "arguments": {"a": number, "b": 1}});
        if mode == Mode::PerRequest {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message =
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        let answer = self.post(&message).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        let expected = format!("\"text\":\"{}\"", number + 1);
        match status.is_success() && String::from_utf8_lossy(&body).contains(&expected) {
            true => Ok(()),
            false => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
        }
    }
}

/// The time within which so many of a hundred calls were answered; they are sorted.
pub fn at(took: &[u32], part: usize) -> u32 {
    let place = took.len() * part / 100;
    took.get(place).copied().unwrap_or_default()
}
