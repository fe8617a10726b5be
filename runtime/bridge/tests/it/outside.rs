//! What happens outside of calls: an upstream that tells of changes, and connections that are opened, shared and given up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, Error, Service, Upstream};
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Profile, Server};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::service::Client;
use mcp_revisions::service::client::{ClientContext, Http};
use mcp_revisions::{Latest, Lifecycle, Revision, RevisionSet, args, http, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use crate::{client, greets, in_process, names, server, text};

const UPSTREAM: Revision = Revision::V2025_11_25;

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(20), work).await;
    done.unwrap()
}

/// A server that tells its sessions that its tools have changed.
#[derive(Clone, Default)]
struct Changing(Arc<Mutex<Vec<Session>>>);

impl Handler for Changing {
    async fn call(&self, call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        greets(call, peer).await
    }

    fn on_initialized(&self, session: Session) {
        self.0.lock().unwrap().push(session);
    }
}

impl Changing {
    fn upstream(&self) -> Upstream {
        let info = Json::from(json!({ "name": "changing", "version": "1" }));
        let declared = Json::from(json!({ "tools": { "listChanged": true } }));
        let server = Server::new(UPSTREAM, Profile::new(&info, &declared)).unwrap();
        let server = server.with_revisions(RevisionSet::none().with(UPSTREAM));
        Upstream::service(http::Service::new(server, self.clone()))
    }

    fn change(&self) {
        for session in self.0.lock().unwrap().iter() {
            let _ = session.notify("notifications/tools/list_changed", None);
        }
    }
}

/// A client that hears of changes.
struct Hears(mpsc::UnboundedSender<()>);

impl ClientHandlers<ClientContext<Latest>> for Hears {
    async fn tool_list_changed(&self, _: mcp::NotificationParams, _: ClientContext<Latest>) {
        let _ = self.0.send(());
    }
}

fn named(service: &Service, name: &str) -> Client {
    let info = mcp::Implementation::new(name, args::Version("1"));
    Client::builder(&info).http(Http::in_process(service.clone()))
}

/// A client that has heard of a change, and still listens.
async fn listening(service: &Service, changing: &Changing, revision: Revision) -> Client {
    let (heard, mut hears) = mpsc::unbounded_channel();
    let client = client(revision)
        .with_handlers(Hears(heard))
        .http(Http::in_process(service.clone()));
    assert_eq!(names(&client).await, ["greet"]);
    if revision.lifecycle() == Lifecycle::PerRequest {
        let wanted = Json::from(json!({ "notifications": { "toolsListChanged": true } }));
        let listens = client.clone();
        tokio::spawn(async move { listens.request("subscriptions/listen", Some(wanted)).await });
    }
    // Nothing says when its stream is there.
    within(async {
        while hears.try_recv().is_err() {
            changing.change();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    client
}

#[tokio::test]
async fn what_an_upstream_tells_outside_of_calls_reaches_clients_of_every_revision() {
    for revision in Revision::NEGOTIATED {
        let changing = Changing::default();
        let service = Bridge::new(changing.upstream()).into_service();
        let client = listening(&service, &changing, *revision).await;
        drop(client);
        service.shutdown().await;
    }
}

#[tokio::test]
async fn a_connection_with_a_listening_client_is_not_given_to_another() {
    let changing = Changing::default();
    let bridge =
        Bridge::new(changing.upstream()).with_clients(ClientSettings::new().with_max_servers(1));
    let service = bridge.into_service();
    let _listens = listening(&service, &changing, Revision::LATEST).await;
    let other = named(&service, "other");
    let refused = other.request("tools/list", None).await.unwrap_err();
    assert!(
        refused.to_string().contains("1 servers are at work"),
        "{refused}"
    );
    service.shutdown().await;
}

#[tokio::test]
async fn a_session_whose_server_could_not_be_started_takes_no_room_from_others() {
    let (is_broken, failed) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (breaks, fails) = (Arc::clone(&is_broken), Arc::clone(&failed));
    let upstream = Upstream::streams("breaks", move || {
        let is_broken = breaks.load(Ordering::SeqCst);
        fails.fetch_add(usize::from(is_broken), Ordering::SeqCst);
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        if !is_broken {
            let server = server(UPSTREAM);
            tokio::spawn(stdio::serve_on(server, greets, ours.0, theirs.0));
        }
        std::future::ready(match is_broken {
            true => Err(std::io::Error::other("it is broken")),
            false => Ok((theirs.1, ours.1)),
        })
    });
    let service = Bridge::new(upstream)
        .with_clients(ClientSettings::new().with_max_servers(1))
        .into_service();
    let connect = || client(UPSTREAM).http(Http::in_process(service.clone()));
    let first = connect();
    assert_eq!(names(&first).await, ["greet"]);
    first.close().await.unwrap();
    is_broken.store(true, Ordering::SeqCst);
    let unlucky = connect();
    let refused = unlucky.request("tools/list", None).await.unwrap_err();
    assert!(refused.to_string().contains("it is broken"), "{refused}");
    assert!(failed.load(Ordering::SeqCst) > 0);
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!(names(&named(&service, "other")).await, ["greet"]);
    service.shutdown().await;
}

#[tokio::test]
async fn a_client_has_a_tenth_of_all_servers_by_default_and_ten_at_least() {
    for (all, each) in [(5, 5), (20, 10), (150, 15)] {
        let at_work = Arc::new(AtomicUsize::new(0));
        let begun = Arc::clone(&at_work);
        let stuck = move |_: IncomingRequest, _: Peer| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::future::pending()
        };
        let upstream = Upstream::service(http::Service::new(server(UPSTREAM), stuck));
        let service = Bridge::new(upstream)
            .with_clients(ClientSettings::new().with_max_servers(all))
            .into_service();
        let call = |number: usize| {
            let client = named(&service, &number.to_string());
            async move { client.request("tools/list", None).await }
        };
        let calls: Vec<_> = (0..each).map(|number| tokio::spawn(call(number))).collect();
        within(async {
            while at_work.load(Ordering::SeqCst) < each {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let refused = call(each).await.unwrap_err();
        let why = format!("{each} servers are at work for this client");
        assert!(refused.to_string().contains(&why), "{refused}");
        calls.iter().for_each(JoinHandle::abort);
        service.shutdown().await;
    }
}

/// A server of the handshake lifecycle does not say in which call it asks.
#[tokio::test]
async fn a_call_that_waits_for_the_one_before_is_made_once_that_is_answered() {
    let first = Arc::new(Notify::new());
    let leave = Arc::clone(&first);
    let (begin, mut begun) = mpsc::unbounded_channel();
    let tools = move |call: IncomingRequest, _: Peer| {
        let (leave, begin) = (Arc::clone(&leave), begin.clone());
        async move {
            if call.params.text().contains("first") {
                let _ = begin.send(());
                leave.notified().await;
            }
            let done = json!({ "content": [{ "type": "text", "text": "done" }] });
            Ok(Json::from(done))
        }
    };
    let upstream = Upstream::service(http::Service::new(server(UPSTREAM), tools));
    let service = Bridge::new(upstream).into_service();
    let client = client(Revision::LATEST)
        .with_capabilities(&Json::from(json!({ "elicitation": {} })))
        .http(Http::in_process(service.clone()));
    let other = async {
        begun.recv().await;
        let leave = async {
            // Long enough for the other to arrive, and to be held.
            tokio::time::sleep(Duration::from_millis(50)).await;
            first.notify_one();
        };
        tokio::join!(text(&client, "second"), leave).0
    };
    let both = async { tokio::join!(text(&client, "first"), other) };
    assert_eq!(within(both).await, ("done".to_owned(), "done".to_owned()));
    service.shutdown().await;
}

/// A server over two streams that answers each message by these, or ends.
pub(crate) fn scripted(
    answers: impl Fn(&Value) -> Option<Vec<Value>> + Clone + Send + Sync + 'static,
) -> Upstream {
    Upstream::streams("scripted", move || {
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        let answers = answers.clone();
        tokio::spawn(async move {
            let (mut lines, mut output) = (BufReader::new(ours.0).lines(), theirs.0);
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let Some(answers) = answers(&message) else {
                    return;
                };
                for answer in answers {
                    output
                        .write_all(format!("{answer}\n").as_bytes())
                        .await
                        .unwrap();
                }
            }
        });
        std::future::ready(Ok((theirs.1, ours.1)))
    })
}

pub(crate) fn result(to: &Value, result: &Value) -> Vec<Value> {
    vec![json!({ "jsonrpc": "2.0", "id": to["id"], "result": result })]
}

/// What a server of this revision answers until it is called.
pub(crate) fn opens(message: &Value, revision: Revision) -> Vec<Value> {
    match message["method"].as_str() {
        Some("initialize") => result(
            message,
            &json!({
                "protocolVersion": revision.protocol_version(),
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            }),
        ),
        Some(_) if !message["id"].is_null() => {
            let error = json!({ "code": -32601, "message": "no such method" });
            vec![json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })]
        }
        _ => Vec::new(),
    }
}

/// A client over two streams that writes what it likes.
pub(crate) struct Raw {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    pub(crate) served: JoinHandle<Result<(), Error>>,
}

impl Raw {
    pub(crate) fn of(bridge: Bridge) -> Self {
        Self::served_by(|input, output| bridge.serve_stdio(input, output, std::future::pending()))
    }

    pub(crate) fn served_by<F>(serve: impl FnOnce(DuplexStream, DuplexStream) -> F) -> Self
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (input, output) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        Self {
            served: tokio::spawn(serve(input.0, output.0)),
            input: input.1,
            output: BufReader::new(output.1).lines(),
        }
    }

    /// Ends what it writes; it still reads.
    pub(crate) async fn hangs_up(&mut self) {
        self.input.shutdown().await.unwrap();
    }

    pub(crate) async fn says(&mut self, line: impl std::fmt::Display) {
        let line = format!("{line}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    /// Hears messages until this request is answered.
    pub(crate) async fn hears_answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.hears().await;
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    pub(crate) async fn hears(&mut self) -> Value {
        let line = within(self.output.next_line()).await.unwrap();
        serde_json::from_str(&line.unwrap()).unwrap()
    }
}

pub(crate) fn initialize(version: &str, capabilities: &Value) -> Value {
    let info = json!({ "name": "myhost", "version": "1" });
    let params =
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

pub(crate) fn calls(id: i64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool } })
}

/// What a client says of why it cancels is for the server; nothing is made up where it says nothing.
#[tokio::test]
async fn the_reason_of_a_cancelled_call_reaches_the_server_as_the_client_gave_it() {
    for reason in [json!("the user pressed \u{1b} \"stop\""), Value::Null] {
        let (hears, mut heard) = mpsc::unbounded_channel();
        let upstream = scripted(move |message| {
            let _ = hears.send(message.clone());
            let is_call = message["method"] == "tools/call";
            Some(if is_call {
                Vec::new()
            } else {
                opens(message, UPSTREAM)
            })
        });
        let mut client = Raw::of(Bridge::new(upstream));
        client.says(initialize("2025-11-25", &json!({}))).await;
        client.hears_answer(1).await;
        client
            .says(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        client.says(calls(2, "slow")).await;
        while within(heard.recv()).await.unwrap()["method"] != "tools/call" {}
        let mut params = json!({ "requestId": 2 });
        if reason.is_string() {
            params["reason"] = reason.clone();
        }
        let cancels =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        client.says(cancels).await;
        let cancelled = within(heard.recv()).await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["reason"], reason, "{cancelled}");
    }
}

/// The bridge sends the server what `initialize` says of the client, whichever version the client asks for, and whatever lines
/// come before it.
#[tokio::test]
async fn a_server_is_sent_what_its_client_says_in_initialize() {
    let claim = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let before = [
        (
            json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }).to_string(),
            "result",
        ),
        ("not JSON".to_owned(), "error"),
        ("[]".to_owned(), "error"),
        ("{}".to_owned(), "error"),
        (
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} }).to_string(),
            "error",
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
            "",
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 7, "result": {} }).to_string(),
            "",
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1, "_meta": claim } })
                .to_string(),
            "",
        ),
    ];
    for version in ["2024-10-07", "2025-06-18", "2027-01-01", "2026-07-28"] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = Arc::clone(&seen);
        let upstream = scripted(move |message| {
            sees.lock().unwrap().push(message.clone());
            Some(opens(message, UPSTREAM))
        });
        let mut client = Raw::of(Bridge::new(upstream));
        for (line, answer) in &before {
            client.says(line).await;
            if !answer.is_empty() {
                let heard = client.hears().await;
                assert!(!heard[answer].is_null(), "{line}: {heard}");
            }
        }
        assert!(
            seen.lock().unwrap().is_empty(),
            "nothing names the client yet"
        );
        client.says(initialize(version, &json!({}))).await;
        let opened = client.hears().await;
        assert_eq!(
            opened["result"]["serverInfo"]["name"], "scripted",
            "{opened}"
        );
        let known = Revision::from_protocol_version(version);
        let spoken = known.filter(|it| it.lifecycle() == Lifecycle::Handshake);
        let spoken = spoken.unwrap_or(Revision::V2025_11_25).protocol_version();
        assert_eq!(opened["result"]["protocolVersion"], spoken);
        let seen = seen.lock().unwrap();
        let sent = seen.iter().find(|it| it["method"] == "initialize").unwrap();
        assert_eq!(
            sent["params"]["clientInfo"]["name"], "myhost",
            "{version}: {sent}"
        );
        assert_eq!(
            sent["params"]["capabilities"],
            json!({}),
            "{version}: {sent}"
        );
    }
}

/// Over HTTP, too: the server is started by a client of a version that does not exist.
#[tokio::test]
async fn a_client_of_an_unknown_version_starts_the_server_of_a_service() {
    for version in ["2024-10-07", "2027-01-01"] {
        let service = Bridge::new(in_process(UPSTREAM)).into_service();
        let body = initialize(version, &json!({})).to_string();
        let request = ::http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(http_body_util::Full::new(bytes::Bytes::from(body)))
            .unwrap();
        let opened = within(tower_service::Service::call(&mut service.clone(), request)).await;
        let opened = http_body_util::BodyExt::collect(opened.unwrap().into_body()).await;
        let opened: Value = serde_json::from_slice(&opened.unwrap().to_bytes()).unwrap();
        let result = &opened["result"];
        assert_eq!(result["serverInfo"]["name"], UPSTREAM.id(), "{opened}");
        assert_eq!(result["protocolVersion"], "2025-11-25", "{opened}");
        service.shutdown().await;
    }
}

/// Each call that is open when the server ends is answered, before the client is hung up on.
#[tokio::test]
async fn calls_that_are_open_when_the_server_ends_are_answered() {
    for client in [Revision::V2024_11_05, Revision::V2025_11_25] {
        let upstream = scripted(|message| match message["params"]["name"].as_str() {
            Some("exit") => None,
            Some(_) => Some(Vec::new()),
            None => Some(opens(message, UPSTREAM)),
        });
        let mut raw = Raw::of(Bridge::new(upstream));
        raw.says(initialize(client.protocol_version(), &json!({})))
            .await;
        raw.hears().await;
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        raw.says(opened).await;
        raw.says(calls(2, "never")).await;
        raw.says(calls(3, "exit")).await;
        let mut answered = Vec::new();
        for _ in 0..2 {
            let answer = raw.hears().await;
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            answered.push(answer["id"].as_i64().unwrap());
        }
        answered.sort_unstable();
        assert_eq!(answered, [2, 3]);
        let ended = within(raw.served).await.unwrap();
        assert!(matches!(ended, Err(Error::UpstreamEnded)), "{ended:?}");
    }
}

/// A server that does not answer is not waited for on behalf of a client that is gone.
#[tokio::test]
async fn a_client_that_leaves_while_its_server_starts_ends_both() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let upstream = Upstream::streams("silent", move || {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let ended = ended.clone();
        tokio::spawn(async move {
            let _ = tokio::io::copy(&mut far, &mut tokio::io::sink()).await;
            let _ = ended.send(());
        });
        std::future::ready(Ok(tokio::io::split(near)))
    });
    let mut raw = Raw::of(Bridge::new(upstream));
    raw.says(initialize("2025-11-25", &json!({}))).await;
    drop(raw.input);
    within(raw.served).await.unwrap().unwrap();
    within(ends.recv()).await.unwrap();
}

/// A server that asks what its revision does not have, or not so, has made the mistake itself. A client of its revision is
/// asked as the server asks.
#[tokio::test]
async fn a_server_is_told_which_mistake_its_request_has() {
    let form = json!({ "type": "object", "properties": {} });
    let asks = [
        (
            Revision::V2025_03_26,
            json!({ "message": "?", "requestedSchema": form }),
            &["2025-06-18", "2025-11-25"][..],
            -32601,
        ),
        (
            Revision::V2025_06_18,
            json!({ "message": "?" }),
            &["2025-11-25"],
            -32602,
        ),
    ];
    for (server, params, versions, code) in asks {
        for version in versions {
            let (params, call) = (params.clone(), Arc::new(Mutex::new(Value::Null)));
            let upstream = scripted(move |message| {
                if message["params"]["name"] == "ask" {
                    *call.lock().unwrap() = message.clone();
                    let ask = json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params });
                    return Some(vec![ask]);
                }
                if message["id"] == "q" {
                    let text = message["error"]["code"].to_string();
                    let content = json!({ "content": [{ "type": "text", "text": text }] });
                    return Some(result(&call.lock().unwrap(), &content));
                }
                Some(opens(message, server))
            });
            let mut raw = Raw::of(Bridge::new(upstream));
            raw.says(initialize(version, &json!({ "elicitation": {} })))
                .await;
            raw.hears().await;
            let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            raw.says(opened).await;
            raw.says(calls(2, "ask")).await;
            let answer = raw.hears().await;
            let text = &answer["result"]["content"][0]["text"];
            assert_eq!(*text, code.to_string(), "{server}, {version}: {answer}");
        }
    }
}
