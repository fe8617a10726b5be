//! What replicas send each other and share: records of sessions, and messages that reach a replica over the backplane.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use mcp_revisions::backplane::{
    Backplane, EventId, KeptEvent, Memory, Receiver, ReplicaTarget, Reply, SessionRecord,
};
use mcp_revisions::http::{Options, Service};
use mcp_revisions::sansio::server::Owner;
use mcp_revisions::service::Router;
use tower_service::Service as _;

use super::http::in_its_own_time;
use super::{Signature, Target, kind_of};

pub(super) const RECORD: Target = Target {
    name: "record",
    corpus: record_corpus,
    run: run_record,
};

pub(super) const MESSAGE: Target = Target {
    name: "replica",
    corpus: message_corpus,
    run: run_message,
};

fn record_corpus() -> Vec<Vec<u8>> {
    let owners = [
        Owner::Unknown,
        Owner::Principal("somebody".into()),
        Owner::Address(std::net::IpAddr::from([127, 0, 0, 1])),
    ];
    let records = owners.map(|owner| {
        let mut record = SessionRecord::new("0000002a", owner);
        record.messages = vec![r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#.into()];
        record.to_text().into_bytes()
    });
    records.into()
}

fn run_record(input: &[u8]) -> Result<Signature, String> {
    match SessionRecord::from_text(&String::from_utf8_lossy(input)) {
        Err(broken) => Ok(kind_of(&broken.to_string())),
        Ok(record) => match SessionRecord::from_text(&record.to_text()) {
            Ok(again) if again == record => Ok(1),
            other => Err(format!("{record:?} is read back as {other:?}")),
        },
    }
}

/// A backplane of one process that keeps its receivers and all messages.
#[derive(Clone)]
struct Tapped {
    memory: Memory,
    receivers: Arc<Mutex<Vec<Weak<dyn Receiver>>>>,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Tapped {
    fn new() -> Self {
        Self {
            memory: Memory::new(),
            receivers: Arc::default(),
            sent: Arc::default(),
        }
    }

    /// Returns a replica that uses it.
    fn replica(&self) -> Service {
        let router = Router::new().tool("t", "A tool.", || async { "done" });
        let server = router
            .build("fuzzed", "1")
            .expect("a name, a version and a tool");
        server.into_http_service(Options::default().with_backplane(self.clone()))
    }
}

impl Backplane for Tapped {
    fn join(&self, receiver: Weak<dyn Receiver>) -> Arc<str> {
        locked(&self.receivers).push(Weak::clone(&receiver));
        self.memory.join(receiver)
    }

    fn leave(&self, address: &str) -> Reply<()> {
        self.memory.leave(address)
    }

    fn send(&self, to: ReplicaTarget<'_>, message: Vec<u8>) -> Reply<bool> {
        locked(&self.sent).push(message.clone());
        self.memory.send(to, message)
    }

    fn save(
        &self,
        session: &str,
        record: &SessionRecord,
        of: Option<&str>,
        keep: Duration,
    ) -> Reply<bool> {
        self.memory.save(session, record, of, keep)
    }

    fn find(&self, session: &str) -> Reply<Option<SessionRecord>> {
        self.memory.find(session)
    }

    fn end(&self, session: &str) -> Reply<()> {
        self.memory.end(session)
    }

    fn append(&self, session: &str, owner: &Owner, event: KeptEvent) {
        self.memory.append(session, owner, event);
    }

    fn after(&self, session: &str, event: EventId) -> Reply<Option<Vec<KeptEvent>>> {
        self.memory.after(session, event)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn post(session: Option<&str>, body: &'static str) -> Request<Full<Bytes>> {
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let request = match session {
        Some(session) => request
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-06-18"),
        None => request,
    };
    request
        .body(Full::new(Bytes::from_static(body.as_bytes())))
        .unwrap_or_default()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}"#;

/// The messages that two replicas send each other for a session of the one whose client calls the other.
fn message_corpus() -> Vec<Vec<u8>> {
    let tapped = Tapped::new();
    let (mut home, mut other) = (tapped.replica(), tapped.replica());
    let talk = async {
        let opened = home
            .call(post(None, INITIALIZE))
            .await
            .map_err(|error| error.to_string())?;
        let session = opened
            .headers()
            .get("mcp-session-id")
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        let _ = opened.into_body().collect().await;
        for _ in 0..2 {
            let called = other
                .call(post(session.as_deref(), CALL))
                .await
                .map_err(|error| error.to_string())?;
            let _ = called.into_body().collect().await;
        }
        Ok(())
    };
    in_its_own_time(talk).expect("a call through another replica is answered");
    locked(&tapped.sent).clone()
}

/// Hands bytes to a replica as a message of another one, which has taken calls before.
fn run_message(input: &[u8]) -> Result<Signature, String> {
    in_its_own_time(async {
        let tapped = Tapped::new();
        let mut home = tapped.replica();
        let opened = home
            .call(post(None, INITIALIZE))
            .await
            .map_err(|error| error.to_string())?;
        let _ = opened.into_body().collect().await;
        let receivers: Vec<_> = locked(&tapped.receivers)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for receiver in receivers {
            receiver.receive(input);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        // It goes on serving.
        let answered = home
            .call(post(None, INITIALIZE))
            .await
            .map_err(|error| error.to_string())?;
        if !answered.status().is_success() {
            return Err(format!(
                "a new client gets status {} afterwards",
                answered.status()
            ));
        }
        let sent = locked(&tapped.sent).concat();
        Ok(kind_of(&String::from_utf8_lossy(&sent)))
    })
}
