//! A client written by hand, of any revision: it says what the revision says, and looks at nothing else.

use mcp_revisions::{Lifecycle, Revision};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split,
};

/// The client, and what it was told unasked.
pub(crate) struct Peer {
    revision: Revision,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    last_id: i64,
    capabilities: Value,
    /// What `initialize` was answered, in a revision that has it.
    pub(crate) opened: Value,
    pub(crate) told: Vec<Value>,
    /// What it answers each question of the server: a result, or an object of an `error`.
    pub(crate) answers: Vec<Value>,
    pub(crate) asked: Vec<Value>,
    /// What questions are called that come in results.
    pub(crate) names: Vec<String>,
}

/// Every revision that a server can be spoken to in.
pub(crate) fn revisions() -> impl Iterator<Item = Revision> {
    mcp_revisions::RevisionSet::all().iter()
}

impl Peer {
    pub(crate) async fn connect(revision: Revision, stream: DuplexStream) -> Self {
        let (read, out) = split(stream);
        let mut peer = Self {
            revision,
            lines: BufReader::new(read).lines(),
            out,
            last_id: 0,
            capabilities: json!({"elicitation": {}, "roots": {}, "sampling": {}}),
            opened: Value::Null,
            told: Vec::new(),
            answers: Vec::new(),
            asked: Vec::new(),
            names: Vec::new(),
        };
        if revision.lifecycle() == Lifecycle::Handshake {
            let params = json!({
                "protocolVersion": revision.protocol_version(),
                "capabilities": peer.capabilities,
                "clientInfo": {"name": "peer", "version": "1"},
            });
            peer.opened = peer.call("initialize", params).await.unwrap();
            peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
        }
        peer
    }

    /// Declares an extension in each request of a per-request revision.
    pub(crate) fn with_extension(mut self, name: &str) -> Self {
        self.capabilities["extensions"][name] = json!({});
        self
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.out.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a notification without params.
    pub(crate) async fn says(&mut self, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": method}))
            .await;
    }

    /// Sends a notification with params.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Calls a method, and answers what the server asks meanwhile, however its lifecycle asks.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let mut params = params;
        loop {
            let result = self.once(method, params.clone()).await?;
            if result["resultType"] != "input_required" {
                return Ok(result);
            }
            let mut responses = json!({});
            for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
                self.asked.push(question.clone());
                self.names.push(key.clone());
                responses[key] = self.answers.remove(0);
            }
            params["inputResponses"] = responses;
            if let Some(state) = result.get("requestState") {
                params["requestState"] = state.clone();
            }
        }
    }

    /// Calls a method that has a result.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        self.call(method, params).await.unwrap()
    }

    /// Sends a request, and does not wait for its answer.
    pub(crate) async fn begins(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        if self.revision.lifecycle() == Lifecycle::PerRequest {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] =
                json!(self.revision.protocol_version());
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/logLevel"] = json!("info");
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap();
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    /// What it is told next by this method; whatever else it is told comes before.
    pub(crate) async fn hears(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|one| one["method"] == method) {
                return self.told.remove(at);
            }
            let message = self.next().await;
            assert!(message.get("id").is_none(), "{message}");
            self.told.push(message);
        }
    }

    /// Calls a method once: what it asks in its result is not answered.
    pub(crate) async fn once(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begins(method, params).await;
        self.answer_to(id).await
    }

    /// Waits for the answer to a request, and answers what the server asks by requests meanwhile.
    pub(crate) async fn answer_to(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            match message.get("id") {
                Some(id) => {
                    self.asked.push(message.clone());
                    let answer = self.answers.remove(0);
                    let answer = match answer.get("error") {
                        Some(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                        None => json!({"jsonrpc": "2.0", "id": id, "result": answer}),
                    };
                    self.send(&answer).await;
                }
                None => self.told.push(message),
            }
        }
    }
}
