//! The client, against servers of every revision in the same process, and what becomes of calls that go wrong.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::latest::{self as mcp, CallServer, ClientHandlers};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::sansio::client::Failure;
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::client::{ClientContext, Progress};
use mcp_revisions::service::{Client, Error, RequestContext, Router, Server};
use mcp_revisions::{Latest, Lifecycle, Limits, Revision, RevisionSet};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio::sync::Notify;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::service::peer::revisions;
use crate::service::trace::Lines;
use crate::support::served;

#[derive(Deserialize, schemars::JsonSchema)]
struct Profile {
    name: String,
}

async fn count(cx: RequestContext<Latest>) -> String {
    cx.progress(50, 100).await;
    cx.log(LogLevel::Warning, "half way").await;
    "done".to_owned()
}

async fn steps(cx: RequestContext<Latest>) -> String {
    for step in 1..=10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cx.progress(step, 10).await;
    }
    "done".to_owned()
}

async fn who(cx: RequestContext<Latest>) -> Result<String, Error> {
    Ok(cx.elicit::<Profile>("Who are you?").await?.name)
}

/// Notes when it is dropped before its end.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Connects to a server of one revision.
fn connect<H>(only: Revision, handlers: H, cancelled: &Arc<Notify>) -> Client
where
    H: ClientHandlers<ClientContext<Latest>> + Send + Sync + 'static,
{
    let cancelled = Arc::clone(cancelled);
    let server = Server::new(&mcp::Implementation::new(
        "example",
        mcp_revisions::args::Version("1.0.0"),
    ))
    .with_revisions([only].into_iter().collect());
    let router = Router::new()
        .tool("count", "Counts.", count)
        .tool("steps", "Counts slowly.", steps)
        .tool("who", "Asks.", who)
        .tool("sleep", "Sleeps.", move || {
            let dropped = Dropped(Arc::clone(&cancelled));
            async move {
                let _dropped = dropped;
                std::future::pending::<()>().await;
            }
        });
    let running = router.build_with(server).unwrap();
    let (input, output) = split(served(running));
    let info = mcp::Implementation::new("client", mcp_revisions::args::Version("1.0.0"));
    Client::builder(&info)
        .with_handlers(handlers)
        .lines(input, output)
}

/// Answers who it is, and keeps what it hears.
#[derive(Clone, Default)]
struct Person {
    heard: Arc<Mutex<Vec<Json>>>,
}

impl ClientHandlers<ClientContext<Latest>> for Person {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        let content = Json::from(json!({"action": "accept", "content": {"name": "Ada"}}));
        Ok(content.read()?)
    }

    async fn logging_message(
        &self,
        params: mcp::LoggingMessageNotificationParams,
        _: ClientContext<Latest>,
    ) {
        self.heard.lock().unwrap().push(params.data);
    }
}

fn text(result: &mcp::CallToolResult) -> &str {
    match &result.content[0] {
        mcp::ContentBlock::Text(text) => &text.text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn servers_of_every_revision_are_called_alike() {
    for revision in revisions() {
        let client = connect(revision, (), &Arc::default());
        let tools = client.list_tools(None).await.unwrap().tools;
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["count", "steps", "who", "sleep"], "{revision}");
        let server = client.server().unwrap();
        assert_eq!(server.revision, revision);
        let error = client
            .call_tool(mcp::CallToolRequestParams::new("nothing"))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, Error::Rpc(error) if error.code == -32602),
            "{revision}: {error:?}"
        );
    }
}

#[tokio::test]
async fn progress_is_told_and_logs_are_heard() {
    for revision in revisions() {
        let person = Person::default();
        let client = connect(revision, person.clone(), &Arc::default());
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let client = client
            .with_log_level(LogLevel::Info)
            .on_progress(move |progress| tell.lock().unwrap().push(progress));
        let result = client
            .call_tool(mcp::CallToolRequestParams::new("count"))
            .await
            .unwrap();
        assert_eq!(text(&result), "done");
        let mut half = Progress::default();
        (half.done, half.total) = (50.0, Some(100.0));
        assert_eq!(*told.lock().unwrap(), [half], "{revision}");
        // Each is handled by itself, and may be heard after the answer.
        for _ in 0..100 {
            if !person.heard.lock().unwrap().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(
            *person.heard.lock().unwrap(),
            [Json::of("half way")],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn what_the_server_asks_is_answered_by_the_handlers() {
    for revision in revisions() {
        if !revision
            .methods()
            .iter()
            .any(|method| method.name == "elicitation/create")
        {
            continue;
        }
        let client = connect(revision, Person::default(), &Arc::default());
        let result = client
            .call_tool(mcp::CallToolRequestParams::new("who"))
            .await
            .unwrap();
        assert_eq!(text(&result), "Ada", "{revision}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for revision in revisions() {
        let cancelled = Arc::new(Notify::new());
        let client = connect(revision, (), &cancelled);
        let call = client.call_tool(mcp::CallToolRequestParams::new("sleep"));
        assert!(
            tokio::time::timeout(Duration::from_millis(300), call)
                .await
                .is_err()
        );
        tokio::time::timeout(Duration::from_secs(5), cancelled.notified())
            .await
            .unwrap();
        let late = client
            .within(Duration::from_millis(50))
            .call_tool(mcp::CallToolRequestParams::new("sleep"))
            .await;
        assert!(matches!(late, Err(Error::Timeout(_))), "{revision}");
        tokio::time::timeout(Duration::from_secs(5), cancelled.notified())
            .await
            .unwrap();
        // The connection is as good as before.
        client.list_tools(None).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn progress_renews_the_time_of_a_call_and_a_total_ends_it() {
    for revision in revisions() {
        let client = connect(revision, (), &Arc::default());
        client.connect().await.unwrap();
        let steps = || mcp::CallToolRequestParams::new("steps");
        let brief = client.within(Duration::from_millis(300));
        let done = brief.call_tool(steps()).await;
        assert!(done.is_ok(), "{revision}: {done:?}");
        let total = Duration::from_millis(550);
        let late = brief.at_most(total).call_tool(steps()).await;
        assert_eq!(late.unwrap_err(), Error::Timeout(total), "{revision}");
        // A call without news has its own time.
        let brief = client.within(Duration::from_millis(50));
        let late = brief.call_tool(steps()).await.unwrap_err();
        assert_eq!(
            late,
            Error::Timeout(Duration::from_millis(50)),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_server_that_closes_its_stream_leaves_nobody_waiting() {
    let (near, far) = duplex(1 << 16);
    let (input, output) = split(near);
    let client = Client::builder(&mcp::Implementation::new(
        "client",
        mcp_revisions::args::Version("1.0.0"),
    ))
    .lines(input, output);
    let call = crate::support::spawn({
        let client = client.clone();
        async move { client.list_tools(None).await }
    });
    let (input, mut out) = split(far);
    let mut lines = BufReader::new(input).lines();
    let probe: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(probe["method"], "server/discover");
    out.write_all(b"no message at all\n").await.unwrap();
    drop((lines, out));
    let closed = Err(Error::RequestFailed(Failure::Closed));
    let answer = tokio::time::timeout(Duration::from_secs(5), call)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(answer.map(|_| ()), closed);
    let again = client.list_tools(None).await;
    assert_eq!(again.map(|_| ()), closed);
}

#[tokio::test]
async fn a_client_of_the_handshake_era_needs_no_newer_server() {
    let handshake: RevisionSet = revisions()
        .filter(|revision| revision.lifecycle() == Lifecycle::Handshake)
        .collect();
    let running = Router::new()
        .tool("a", "", || async { "b" })
        .build("example", "1")
        .unwrap();
    let (input, output) = split(served(running));
    let info = mcp_revisions::core::v2025_06_18::Implementation::new(
        "client",
        mcp_revisions::args::Version("1.0.0"),
    );
    let client = Client::<mcp_revisions::core::V2025_06_18>::speaking(&info)
        .with_revisions(handshake)
        .lines(input, output);
    let params = mcp_revisions::core::v2025_06_18::CallToolRequestParams::new("a")
        .with_arguments(JsonObject::new());
    let result = mcp_revisions::core::v2025_06_18::CallServer::call_tool(&client, params)
        .await
        .unwrap();
    assert_eq!(result.content.len(), 1);
    client.close().await.unwrap();
}

/// Notes a log message whenever it is let.
#[derive(Clone, Default)]
struct Careful {
    lets: Arc<Notify>,
    heard: Arc<Mutex<Vec<i64>>>,
}

impl ClientHandlers<ClientContext<Latest>> for Careful {
    async fn logging_message(
        &self,
        params: mcp::LoggingMessageNotificationParams,
        _: ClientContext<Latest>,
    ) {
        self.lets.notified().await;
        let number: i64 = params.data.parse().unwrap();
        assert!(number != 2, "a handler may fail");
        self.heard.lock().unwrap().push(number);
    }
}

/// Answers `initialize`, and each other request after as many log messages.
async fn chatters(stream: tokio::io::DuplexStream, messages: i64) {
    let (input, mut output) = split(stream);
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": "chatters", "version": "1"},
            }),
            _ => {
                for number in 0..messages {
                    let params = json!({"level": "info", "data": number});
                    let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                    output
                        .write_all(format!("{told}\n").as_bytes())
                        .await
                        .unwrap();
                }
                json!({"tools": []})
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        output
            .write_all(format!("{answer}\n").as_bytes())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn what_a_server_says_is_noted_in_order_and_not_without_end() {
    let dropped = Lines::new("a notification was dropped", "method");
    let subscriber = tracing_subscriber::registry().with(dropped.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let (near, far) = duplex(1 << 16);
    crate::support::spawn(chatters(far, 100));
    let careful = Careful::default();
    let (input, output) = split(near);
    let info = mcp::Implementation::new("client", mcp_revisions::args::Version("1.0.0"));
    let client = Client::builder(&info)
        .with_revisions([Revision::V2025_11_25].into_iter().collect())
        .with_limits(Limits {
            max_pending_bytes: 10 << 10,
            ..Limits::default()
        })
        .with_handlers(careful.clone())
        .lines(input, output);
    // The call does not wait for what is noted, and a handler that fails takes nothing else with it.
    client.list_tools(None).await.unwrap();
    for _ in 0..100 {
        careful.lets.notify_one();
        tokio::task::yield_now().await;
    }
    while careful.heard.lock().unwrap().len() < 8 {
        careful.lets.notify_one();
        tokio::task::yield_now().await;
    }
    assert_eq!(*careful.heard.lock().unwrap(), [0, 1, 3, 4, 5, 6, 7, 8]);
    // An operator is told of the others.
    let dropped = dropped.values.lock().unwrap();
    let is_told = dropped.iter().any(|it| it == "notifications/message");
    assert!(is_told, "{dropped:?}");
}

/// Pings without end, until nobody takes them any more; how many were taken.
async fn pings(output: &mut (impl tokio::io::AsyncWrite + Unpin), most: usize) -> usize {
    for number in 0..most {
        let ping = json!({"jsonrpc": "2.0", "id": number, "method": "ping"});
        let line = format!("{ping}\n");
        let sent = output.write_all(line.as_bytes());
        if tokio::time::timeout(Duration::from_millis(500), sent)
            .await
            .is_err()
        {
            return number;
        }
    }
    most
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_no_answers_is_not_answered_without_end() {
    let (near, far) = duplex(1 << 10);
    let (input, output) = split(near);
    let info = mcp::Implementation::new("client", mcp_revisions::args::Version("1.0.0"));
    let client = Client::builder(&info)
        .with_revisions([Revision::V2025_11_25].into_iter().collect())
        .with_limits(Limits {
            max_message_bytes: 4 << 10,
            ..Limits::default()
        })
        .lines(input, output);
    let first = client.clone();
    let call = crate::support::spawn(async move { first.list_tools(None).await });
    let (input, mut output) = split(far);
    let taken = pings(&mut output, 100_000).await;
    // What is in the streams, what waits to be heard, and the answers of four kibibytes.
    assert!((100..500).contains(&taken), "{taken}");
    // Nor is it asked anything more.
    let refused = client.list_tools(None).await;
    assert_eq!(refused.unwrap_err(), Error::RequestFailed(Failure::NotRead));
    // Once it takes them, all goes on.
    let mut lines = BufReader::new(input).lines();
    let all =
        crate::support::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    assert_eq!(pings(&mut output, 2_000).await, 2_000);
    drop(output);
    call.abort();
    all.abort();
}

/// A server of the client's own revision sends its list as it is: nothing converts it, and the typed call reads it.
#[tokio::test]
async fn a_typed_call_takes_a_list_with_mistakes_and_tells_them() {
    let (near, far) = duplex(1 << 16);
    tokio::spawn(async move {
        let (read, mut write) = split(far);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let result = match message["method"].as_str() {
                Some("server/discover") => json!({
                    "resultType": "complete", "capabilities": { "tools": {} },
                    "supportedVersions": [Revision::LATEST.protocol_version()],
                }),
                Some("tools/list") => json!({
                    "tools": [null, { "name": "bad" }, { "name": "good", "inputSchema": { "type": "object" }, "_meta": [] }],
                    "ttlMs": null,
                }),
                Some("tools/call") => json!({ "content": [{ "type": "odd" }] }),
                _ => continue,
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let line = format!("{answer}\n");
            write.write_all(line.as_bytes()).await.unwrap();
        }
    });
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let tells = Arc::clone(&told);
    let (read, write) = split(near);
    let client = Client::builder(&mcp_revisions::program!())
        .with_revisions([Revision::LATEST].into_iter().collect())
        .on_loss(move |lost| {
            let losses = lost.losses.iter().map(|loss| loss.pointer());
            tells.lock().unwrap().extend(losses);
        })
        .lines(read, write);
    let list = client.list_tools(None).await.unwrap();
    let names: Vec<&str> = list.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(list.ttl_ms.as_i64(), Some(0));
    let told = told.lock().unwrap().clone();
    let places = [
        "/cacheScope",
        "/tools/0",
        "/tools/1",
        "/tools/2/_meta",
        "/ttlMs",
    ];
    assert_eq!(told, places);
    let refused = client.call_tool(mcp::CallToolRequestParams::new("x")).await;
    let refused = refused.unwrap_err().to_string();
    let whose = "the server's answer is not valid: at /content/0/type: expected";
    assert!(refused.starts_with(whose), "{refused}");
}
