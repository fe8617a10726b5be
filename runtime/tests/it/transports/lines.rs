//! Servers over two streams of bytes, which take more than is in the streams at a time.

use std::time::Duration;

use mcp_revisions::Limits;
use mcp_revisions::Revision;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::service::Caller;
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::sansio::client::Failure;
use mcp_revisions::service::{Client, Error, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

use crate::transports::client;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn limited(max_message_bytes: usize) -> Limits {
    Limits {
        max_message_bytes,
        ..Limits::default()
    }
}

/// A client that has had its first answer of a server that answers with what it is sent, or with how long that is.
async fn echoing(limits: Limits) -> Client {
    let (near, far) = duplex(1 << 16);
    let router = Router::new()
        .tool("echo", "Echoes.", |Text { text }: Text| async { text })
        .tool("measure", "Measures.", |Text { text }: Text| async move {
            text.len().to_string()
        });
    let running = router.build("echo", "1").unwrap().with_limits(limits);
    crate::support::spawn(async move {
        let (input, output) = split(far);
        running.lines(input, output).await.unwrap();
    });
    let (input, output) = split(near);
    let client = client().with_limits(limits).lines(input, output);
    client.list_tools(None).await.unwrap();
    client.within(LONG)
}

/// Makes so many calls of a tool at once, each of so many bytes, and returns how each of them went.
async fn calls(
    client: &Client,
    tool: &'static str,
    (calls, bytes): (usize, usize),
) -> Vec<Result<(), Error>> {
    let made: Vec<_> = (0..calls)
        .map(|_| {
            let client = client.clone();
            crate::support::spawn(async move {
                let arguments = Json::from(json!({"text": "x".repeat(bytes)}));
                let params = mcp::CallToolRequestParams::new(tool)
                    .with_arguments(arguments.read::<JsonObject>().unwrap());
                client.call_tool(params).await.map(drop)
            })
        })
        .collect();
    let mut went = Vec::new();
    for call in made {
        went.push(call.await.unwrap());
    }
    went
}

#[tokio::test]
async fn calls_that_are_longer_than_the_streams_hold_do_not_block_each_other() {
    let client = echoing(limited(1 << 20)).await;
    assert_eq!(
        calls(&client, "echo", (30, 100 << 10)).await,
        vec![Ok(()); 30]
    );
}

#[tokio::test]
async fn calls_wait_for_a_server_that_is_reading() {
    let client = echoing(limited(256 << 10)).await;
    assert_eq!(
        calls(&client, "measure", (20, 40 << 10)).await,
        vec![Ok(()); 20]
    );
}

/// A server by hand.
struct ByHand {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
}

impl ByHand {
    async fn read(&mut self) -> Value {
        let mut line = String::new();
        self.input.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.output.write_all(line.as_bytes()).await.unwrap();
    }

    async fn handshake(&mut self) {
        let initialize = self.read().await;
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "by hand", "version": "1"}});
        self.write(&json!({"jsonrpc": "2.0", "id": initialize["id"], "result": result}))
            .await;
        self.read().await;
    }
}

/// A client that has had its first answer, and the server by hand that gave it.
async fn by_hand(limits: Limits) -> (Client, ByHand) {
    let (near, far) = duplex(1 << 12);
    let (input, output) = split(far);
    let input = BufReader::new(input);
    let mut server = ByHand { input, output };
    let (input, output) = split(near);
    let client = client()
        .with_revisions([Revision::V2025_11_25].into_iter().collect())
        .with_limits(limits)
        .lines(input, output);
    let answers = async {
        server.handshake().await;
        let id = server.read().await["id"].take();
        let result = json!({"tools": []});
        server
            .write(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    };
    let (listed, ()) = tokio::join!(client.list_tools(None), answers);
    listed.unwrap();
    (client, server)
}

#[tokio::test]
async fn a_server_that_writes_before_it_reads_is_heard_while_calls_wait() {
    let (client, mut server) = by_hand(limited(64 << 10)).await;
    let client = client.within(LONG);
    let called = crate::support::spawn(async move { calls(&client, "echo", (4, 48 << 10)).await });
    // The first call has begun to arrive: the others wait behind it.
    server.input.fill_buf().await.unwrap();
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": "x".repeat(1_000)}});
    let written = async {
        for _ in 0..500 {
            server.write(&log).await;
        }
        for _ in 0..4 {
            let id = server.read().await["id"].take();
            server
                .write(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))
                .await;
        }
    };
    let written = tokio::time::timeout(LONG, written).await;
    written.expect("the client does not read");
    assert_eq!(called.await.unwrap(), vec![Ok(()); 4]);
}

#[tokio::test]
async fn what_a_client_owes_a_server_that_reads_nothing_has_a_bound() {
    let (client, mut server) = by_hand(limited(16 << 10)).await;
    let ping = json!({"jsonrpc": "2.0", "id": "x".repeat(900), "method": "ping"});
    let mut pinged = 0;
    let flood = async {
        while pinged < 4_000 {
            server.write(&ping).await;
            pinged += 1;
        }
    };
    // It ends by this time because the client stops to read.
    let is_over = tokio::time::timeout(Duration::from_secs(1), flood).await;
    assert!(is_over.is_err(), "all {pinged} answers are kept");
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_server_that_reads_nothing_is_refused_after_a_while() {
    let (client, mut server) = by_hand(limited(16 << 10)).await;
    let client = client.within(None);
    let called = crate::support::spawn({
        let client = client.clone();
        async move { calls(&client, "echo", (4, 15 << 10)).await }
    });
    server.input.fill_buf().await.unwrap();
    let told = Caller::notification(&client, "notifications/roots/list_changed", None).await;
    assert_eq!(told, Err(Error::RequestFailed(Failure::NotRead)));
    drop(server);
    // Those that were sent have failed with their server; the others were refused.
    let refused = called.await.unwrap();
    let refused = refused
        .iter()
        .filter(|it| matches!(it, Err(Error::RequestFailed(Failure::NotRead))));
    assert!(refused.count() > 0);
}

#[tokio::test]
async fn a_start_time_without_limit_is_one() {
    let (near, far) = duplex(1 << 16);
    let router = Router::new().tool("plain", "Answers.", || async { "plain" });
    let running = router.build("plain", "1").unwrap();
    crate::support::spawn(async move {
        let (input, output) = split(far);
        running.lines(input, output).await.unwrap();
    });
    let (input, output) = split(near);
    let client = client()
        .with_start_timeout(Duration::MAX)
        .lines(input, output);
    assert_eq!(client.list_tools(None).await.unwrap().tools.len(), 1);
}
