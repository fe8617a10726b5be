//! A host with the servers of a file, which are one list of tools to it.

use std::time::Duration;

use mcp_revisions::latest as mcp;
use mcp_revisions::mcp_wire::JsonObject;
use mcp_revisions::{Router, http};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc::UnboundedReceiver;

#[path = "../../examples/host.rs"]
#[allow(dead_code, reason = "a test runs the host without its `main`")]
mod program;

/// Serves a server with one tool, and returns its URL.
async fn served(tool: &str) -> String {
    let answer = format!("{tool} is called");
    let run = move || std::future::ready(answer.clone());
    let takes = JsonObject::from_text(r#"{"type":"object"}"#).unwrap();
    let server = Router::new().tool_of(mcp::Tool::new(tool, takes), run);
    let server = server.build(tool, "1").unwrap();
    let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(http::serve(
        listener,
        server.into_http_service(http::Options::new()),
    ));
    url
}

/// Waits for a line of the screen that has this in it.
async fn shown(screen: &mut UnboundedReceiver<String>, part: &str) {
    let mut before = Vec::new();
    let found = async {
        while let Some(line) = screen.recv().await {
            if line.contains(part) {
                return;
            }
            before.push(line);
        }
    };
    if tokio::time::timeout(Duration::from_secs(20), found)
        .await
        .is_err()
    {
        panic!("{part} is not shown: {before:?}");
    }
}

#[tokio::test]
async fn a_host_calls_the_servers_of_its_file_and_follows_the_file() {
    let file = std::env::temp_dir().join(format!("mcp-host-{}.json", std::process::id()));
    let write = |servers: Value| {
        std::fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    };
    let (one, two) = (
        json!({ "url": served("one").await }),
        json!({ "url": served("two").await }),
    );
    write(json!({ "a": one, "wrong": { "command": 7 } }));
    let (mut typed, input) = tokio::io::duplex(1 << 10);
    let (output, mut screen) = tokio::sync::mpsc::unbounded_channel();
    let path = file.to_str().unwrap().to_owned();
    let host = async move {
        program::run(&path, BufReader::new(input), output)
            .await
            .map_err(|it| it.to_string())
    };
    let user = async {
        shown(
            &mut screen,
            "wrong cannot be used: `command`: expected a text",
        )
        .await;
        typed.write_all(b"tools\na_one\n").await.unwrap();
        shown(&mut screen, "tools: a_one").await;
        shown(&mut screen, "a_one: one is called").await;
        write(json!({ "a": one, "b": two }));
        typed.write_all(b"reload\n").await.unwrap();
        shown(&mut screen, "loaded again").await;
        // The list of all is another, and the host is told.
        shown(&mut screen, "tools: a_one, b_two").await;
        write(json!({ "b": two }));
        typed
            .write_all(b"reload\nb_two {}\na_one {}\n")
            .await
            .unwrap();
        shown(&mut screen, "b_two: two is called").await;
        shown(&mut screen, "failed: ").await;
        drop(typed);
    };
    let (done, ()) = tokio::join!(host, user);
    done.unwrap();
    std::fs::remove_file(file).unwrap();
}
