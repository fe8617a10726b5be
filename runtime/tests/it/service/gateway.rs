//! Calls that are made for somebody else, and what calls tell on their way.

use mcp_revisions::args::Version;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::{Json, Map};
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::client::Update;
use mcp_revisions::service::{Client, RequestContext, Router, Server};
use mcp_revisions::{Latest, Lifecycle, Revision};
use serde_json::{Value, json};
use tokio::io::split;

use crate::service::peer::revisions;
use crate::support::served;

/// Says who asks, and what it can do.
async fn whoami(cx: RequestContext<Latest>) -> String {
    let client = cx.client().unwrap();
    let info: Option<Map<Json>> = client.info.as_ref().map(|info| info.read().unwrap());
    let name = info.and_then(|info| info.get("name")?.as_str().map(Into::into));
    let name: String = name.unwrap_or_default();
    let capabilities = client.capabilities.as_ref().map(Json::text);
    format!("{name} {}", capabilities.unwrap_or("-"))
}

async fn count(cx: RequestContext<Latest>) -> &'static str {
    cx.progress(50, 100).await;
    cx.log(LogLevel::Warning, "half way").await;
    cx.progress(100, 100).await;
    "done"
}

async fn flood(cx: RequestContext<Latest>) -> &'static str {
    let line = "x".repeat(300 << 10);
    for _ in 0..8 {
        cx.log(LogLevel::Warning, &line).await;
    }
    "done"
}

fn connect(only: Revision) -> Client {
    let server = Server::new(&mcp::Implementation::new("example", Version("1")))
        .with_revisions([only].into_iter().collect());
    let router = Router::new()
        .tool("whoami", "Who asks.", whoami)
        .tool("count", "Counts.", count)
        .tool("flood", "Says too much.", flood);
    let running = router.build_with(server).unwrap();
    let (input, output) = split(served(running));
    Client::builder(&mcp::Implementation::new("gateway", Version("1"))).lines(input, output)
}

async fn call(client: &Client, name: &str) -> String {
    let params = mcp::CallToolRequestParams::new(name);
    let result: Value = Json::of(&client.call_tool(params).await.unwrap())
        .parse()
        .unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_call_says_for_whom_it_is_made() {
    for revision in revisions() {
        let client = connect(revision);
        let own = call(&client, "whoami").await;
        assert!(own.starts_with("gateway {}"), "{revision}: {own}");
        let asker = mcp::Implementation::new("asker", Version("7"));
        let roots = json!({"roots": {}});
        let behalf = client.on_behalf_of(&asker, &Json::from(roots));
        let said = call(&behalf, "whoami").await;
        // A session has one client, whoever asks it.
        let expected = match revision.lifecycle() {
            Lifecycle::PerRequest => "asker {\"roots\":{}}",
            Lifecycle::Handshake => "gateway {}",
        };
        assert_eq!(said, expected, "{revision}");
        // The next call is its own again.
        assert_eq!(call(&client, "whoami").await, own, "{revision}");
    }
}

#[tokio::test]
async fn what_calls_tell_on_their_way_is_a_stream() {
    for revision in revisions() {
        let client = connect(revision);
        let (told, mut updates) = client.with_log_level(LogLevel::Info).updates();
        assert_eq!(call(&told, "count").await, "done");
        drop(told);
        let mut heard = Vec::new();
        while let Some(update) = updates.next().await {
            heard.push(match update {
                Update::Progress(progress) => format!("{} of {:?}", progress.done, progress.total),
                Update::Log(log) => format!("{:?} {}", log.level, log.data.text()),
                other => format!("{other:?}"),
            });
        }
        let expected = [
            "50 of Some(100.0)",
            "Warning \"half way\"",
            "100 of Some(100.0)",
        ];
        assert_eq!(heard, expected, "{revision}");
    }
}

#[tokio::test]
async fn updates_that_nobody_takes_are_kept_up_to_a_mebibyte() {
    let client = connect(Revision::LATEST);
    let (told, mut updates) = client.with_log_level(LogLevel::Info).updates();
    assert_eq!(call(&told, "flood").await, "done");
    drop(told);
    let mut kept = 0;
    while let Some(update) = updates.next().await {
        assert!(matches!(update, Update::Log(_)), "{update:?}");
        kept += 1;
    }
    assert!((1..=3).contains(&kept), "{kept} of 300 KiB");
}
