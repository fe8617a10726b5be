//! Servers that are processes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_revisions::sansio::client::Failure;
use mcp_revisions::service::Error;
use mcp_revisions::service::client::Child;
use tokio::process::Command;

use crate::transports::{call, client, router};

/// Not a test: the server that the others start, in a process of its own.
#[tokio::test]
#[ignore = "started by the other tests"]
async fn serves() {
    let running = router().build("child", "1.0.0").unwrap();
    running.stdio().await.unwrap();
}

/// What starts it; the lines that the test harness prints are no messages, and are left out.
fn server() -> String {
    let me = std::env::current_exe().unwrap();
    format!(
        "exec '{}' --exact transports::child::serves --ignored --nocapture",
        me.display()
    )
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, work).await.unwrap()
}

#[tokio::test]
async fn a_process_is_started_and_ended() {
    let client = client().child(Child::new(shell(&server()))).unwrap();
    assert_eq!(soon(call(&client, "hello")).await, Ok("hello".to_owned()));
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn one_that_the_probe_ends_is_started_again() {
    let flag = std::env::temp_dir().join(format!("mcp-revisions-probe-{}", std::process::id()));
    let script = format!(
        "if mkdir '{0}' 2>/dev/null; then read line; exit 1; fi; {1}",
        flag.display(),
        server()
    );
    let client = client().child(Child::new(shell(&script))).unwrap();
    let answer = soon(call(&client, "hello")).await;
    std::fs::remove_dir(&flag).unwrap();
    assert_eq!(answer, Ok("hello".to_owned()));
}

#[tokio::test]
async fn one_that_dies_leaves_nobody_waiting() {
    for script in ["exit 3", "read line; exit 1"] {
        let client = client().child(Child::new(shell(script))).unwrap();
        let answer = soon(call(&client, "hello")).await;
        assert_eq!(
            answer,
            Err(Error::RequestFailed(Failure::Closed)),
            "{script}"
        );
    }
    let missing = client().command(["/no/such/program", "x"]).unwrap_err();
    assert!(
        (missing.to_string()).starts_with("cannot start /no/such/program: "),
        "{missing}"
    );
}

#[tokio::test]
async fn one_that_floods_standard_error_is_heard_all_the_same() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let script = format!(
        "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2; {}",
        server()
    );
    let child = Child::new(shell(&script))
        .on_error_line(move |line| heard.lock().unwrap().push(line.len()));
    let client = client().child(child).unwrap();
    assert_eq!(soon(call(&client, "hello")).await, Ok("hello".to_owned()));
    soon(client.close()).await.unwrap();
    let lines = lines.lock().unwrap();
    // Cut where it is very long.
    assert!(lines[0] < 10_000 && lines[1] == "end".len(), "{lines:?}");
}

#[tokio::test]
async fn one_that_hangs_is_given_up_and_killed() {
    // It hears nothing, not even that its input is closed.
    let child = Child::new(shell("exec sleep 1000")).with_grace(Duration::from_millis(100));
    let client = client().child(child).unwrap();
    let start = Instant::now();
    let late = call(&client.within(Duration::from_millis(200)), "hello").await;
    assert_eq!(late, Err(Error::Timeout(Duration::from_millis(200))));
    assert!(matches!(
        soon(client.close()).await,
        Err(Error::Transport(_))
    ));
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn one_that_writes_last_words_is_read_until_it_has_ended() {
    let flag = std::env::temp_dir().join(format!("mcp-revisions-words-{}", std::process::id()));
    // More than a pipe holds; the write fails if no one reads.
    let script = format!(
        "cat >/dev/null; head -c 300000 /dev/zero | tr '\\0' x && mkdir '{}'",
        flag.display()
    );
    let child = Child::new(shell(&script)).with_grace(Duration::from_secs(20));
    let client = client().child(child).unwrap();
    soon(client.close()).await.unwrap();
    assert!(
        std::fs::remove_dir(&flag).is_ok(),
        "its output was closed before its end"
    );
}

#[test]
fn a_client_outside_of_a_runtime_is_an_error_that_says_what_to_do() {
    let command = client().command(["true"]).unwrap_err().to_string();
    let url = client().url("http://127.0.0.1:1/").unwrap_err().to_string();
    for error in [command, url] {
        assert!(error.contains("#[tokio::main]"), "{error}");
    }
}
