//! Servers that write their messages otherwise than one per line: each is read, and told what it does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::Revision;
use mcp_revisions::latest::CallServer;
use mcp_revisions::service::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

use crate::transports::client;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A client of a server that writes each message by this function, and the mistakes that the client has told.
fn served(write: impl Fn(&Value) -> String + Send + 'static) -> (Client, Arc<Mutex<Vec<String>>>) {
    let (near, far) = duplex(1 << 16);
    let (input, mut output) = split(far);
    crate::support::spawn(async move {
        let mut lines = BufReader::new(input).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"}})
                }
                Some("tools/list") => json!({"tools": []}),
                _ => continue,
            };
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            output.write_all(write(&answer).as_bytes()).await.unwrap();
        }
    });
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let (input, output) = split(near);
    let client = client()
        .with_revisions([Revision::V2025_11_25].into_iter().collect())
        .on_mistake(move |mistake| tell.lock().unwrap().push(mistake.to_string()))
        .lines(input, output);
    (client, told)
}

async fn is_read_and_told(write: impl Fn(&Value) -> String + Send + 'static, words: &str) {
    let (client, told) = served(write);
    for _ in 0..2 {
        let listed = tokio::time::timeout(LONG, client.list_tools(None)).await;
        assert!(listed.expect(words).unwrap().tools.is_empty());
    }
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(words), "{told:?}");
}

#[tokio::test]
async fn messages_over_several_lines_are_read_and_told() {
    let indented = |message: &Value| format!("{message:#}\n");
    is_read_and_told(indented, "JSON over several lines").await;
}

#[tokio::test]
async fn messages_behind_content_length_headers_are_read_and_told() {
    let counted = |message: &Value| {
        let text = message.to_string();
        format!(
            "Content-Length: {}\r\nContent-Type: application/json\r\n\r\n{text}",
            text.len()
        )
    };
    is_read_and_told(counted, "Content-Length").await;
}

#[tokio::test]
async fn messages_without_a_line_end_are_read_and_told() {
    is_read_and_told(ToString::to_string, "line end").await;
}

#[tokio::test]
async fn lines_of_a_log_between_messages_are_told_and_hold_up_none() {
    let (client, told) = served(|message| {
        format!("Listening on {{port}}\n{{\n  \"port\": 1\n}}\nContent-Length: what\n{message}\n")
    });
    let listed = tokio::time::timeout(LONG, client.list_tools(None)).await;
    assert!(listed.unwrap().is_ok());
    let told = told.lock().unwrap();
    assert!(
        told.iter().any(|it| it.contains("Listening on")),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_message_that_does_not_go_on_is_told_within_seconds() {
    let (client, told) = served(|_| "\u{1}binary".to_owned());
    let listing = crate::support::spawn(async move { client.list_tools(None).await });
    let is_told = async {
        while told.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), is_told)
        .await
        .expect("silence");
    assert!(told.lock().unwrap()[0].contains("\\u{1}binary"), "{told:?}");
    listing.abort();
}
