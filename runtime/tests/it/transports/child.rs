//! Servers that are processes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_revisions::sansio::client::Failure;
use mcp_revisions::service::client::Child;
use mcp_revisions::service::{Client, Error};
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
    for (script, status) in [("exit 3", 3), ("read line; exit 1", 1)] {
        let client = client().child(Child::new(shell(script))).unwrap();
        let answer = soon(call(&client, "hello")).await;
        let why = format!("ended before it said which revision it speaks (exit status: {status})");
        let died = Failure::NotStarted(why);
        assert_eq!(answer, Err(Error::RequestFailed(died)), "{script}");
    }
    let script = "echo 'first' >&2; echo 'no module named x' >&2; exit 3";
    let child = Child::new(shell(script)).on_error_line(|_| {});
    let died = soon(call(&client().child(child).unwrap(), "hello")).await;
    let why = format!("{died:?}");
    assert!(
        why.contains("exit status: 3): \\\"first\\\\nno module named x"),
        "{why}"
    );
    let missing = client().command(["/no/such/program", "x"]).unwrap_err();
    assert!(
        (missing.to_string()).starts_with("cannot start /no/such/program: "),
        "{missing}"
    );
}

#[tokio::test]
async fn calls_of_one_that_worked_and_died_say_how_it_ended() {
    let answer = r#"printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')""#;
    let refused = r#"'"error":{"code":-32601,"message":"no such method"}'"#;
    let opened = r#"'"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}'"#;
    let script = format!(
        "read line; {answer} {refused}; read line; {answer} {opened}; read line; read line; echo 'out of disk' >&2; exit 3"
    );
    let child = Child::new(shell(&script)).on_error_line(|_| {});
    let client = client().child(child).unwrap();
    let how = Failure::Ended(" (exit status: 3): \"out of disk\"".to_owned());
    let died = Err(Error::RequestFailed(how));
    assert_eq!(soon(call(&client, "hello")).await, died);
    soon(client.closed()).await;
    assert!(client.is_disconnected());
    assert_eq!(
        soon(call(&client, "hello")).await,
        died,
        "and so does the next one"
    );
}

#[tokio::test]
async fn one_that_is_to_outlive_its_end_is_started_by_the_next_call_and_gets_its_subscriptions_and_level_back()
 {
    let log = std::env::temp_dir().join(format!("mcp-revisions-again-{}", std::process::id()));
    // It answers everything with an empty result, but `initialize`, and ends at a call of the tool `die`.
    let script = format!(
        r#"printf 'start\n' >> '{log}'
        while read -r line; do
            id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            method=$(printf %s "$line" | sed 's/.*"method":"\([^"]*\)".*/\1/')
            printf '%s\n' "$method" >> '{log}'
            case "$line" in
                *server/discover*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no"}}}}\n' "$id" ;;
                *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"logging":{{}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"a","version":"1"}}}}}}\n' "$id" ;;
                *'"die"'*) exit 3 ;;
                *) [ -n "$id" ] && printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"hello"}}]}}}}\n' "$id" ;;
            esac
        done"#,
        log = log.display()
    );
    let child = Child::new(shell(&script)).with_restart();
    let client = Client::<mcp_revisions::core::V2025_06_18>::speaking(&mcp_revisions::program!())
        .child(child)
        .unwrap();
    use mcp_revisions::core::v2025_06_18::{self as mcp, CallServer};
    let call = async |name: &str| {
        client
            .call_tool(mcp::CallToolRequestParams::new(name))
            .await
    };
    soon(client.subscribe(mcp::SubscribeRequestParams::new("file:///a")))
        .await
        .unwrap();
    soon(client.set_level(mcp::SetLevelRequestParams::new(mcp::LoggingLevel::Error)))
        .await
        .unwrap();
    assert!(soon(call("hello")).await.is_ok());
    let died = soon(call("die")).await.unwrap_err().to_string();
    assert!(died.contains("exit status: 3"), "{died}");
    soon(client.closed()).await;
    assert!(
        soon(call("hello")).await.is_ok(),
        "the next call starts it again"
    );
    assert!(!client.is_disconnected());
    soon(client.close()).await.unwrap();
    let seen = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let (_, again) = seen.trim().rsplit_once("start").unwrap();
    for method in [
        "initialize",
        "notifications/initialized",
        "resources/subscribe",
        "logging/setLevel",
        "tools/call",
    ] {
        assert!(
            again.lines().any(|line| line == method),
            "no {method} in {seen}"
        );
    }
}

#[tokio::test]
async fn one_that_is_not_to_be_started_again_is_started_once() {
    let starts = std::env::temp_dir().join(format!("mcp-revisions-starts-{}", std::process::id()));
    let script = format!("echo x >> '{}'; read line; exit 4", starts.display());
    let child = Child::new(shell(&script)).without_restart();
    let client = client().child(child).unwrap();
    for _ in 0..2 {
        let died = soon(call(&client, "hello")).await.unwrap_err().to_string();
        assert!(died.contains("exit status: 4"), "{died}");
    }
    let started = std::fs::read_to_string(&starts).unwrap();
    std::fs::remove_file(&starts).unwrap();
    assert_eq!(started, "x\n");
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

#[cfg(unix)]
#[tokio::test]
async fn one_that_does_not_start_again_says_why() {
    let link = std::env::temp_dir().join(format!("mcp-revisions-shell-{}", std::process::id()));
    std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["-c", "read line; exit 4"]);
    let client = client().child(Child::new(command).with_restart()).unwrap();
    std::fs::remove_file(&link).unwrap();
    let died = soon(call(&client, "hello")).await.unwrap_err().to_string();
    let why = format!("does not start again: cannot start {}", link.display());
    assert!(died.contains(&why), "{died}");
}

#[tokio::test]
async fn one_that_hangs_is_given_up_and_killed() {
    // It hears nothing, not even that its input is closed.
    let hangs = "trap '' TERM; exec sleep 60";
    let child = Child::new(shell(hangs)).with_grace(Duration::from_millis(100));
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

/// Signals and process groups are those of Unix.
#[cfg(unix)]
mod groups {
    use std::fs::File;
    use std::io::Read as _;
    use std::path::PathBuf;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;

    /// The client of a server, and the lines of the server's standard error, which end with the last process that has it.
    fn started(script: &str, grace: Duration) -> (Client, UnboundedReceiver<String>) {
        let (tell, told) = unbounded_channel();
        let child = Child::new(shell(script))
            .with_grace(grace)
            .on_error_line(move |line| tell.send(line.to_owned()).unwrap());
        (client().child(child).unwrap(), told)
    }

    async fn rest(mut told: UnboundedReceiver<String>) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = soon(told.recv()).await {
            lines.push(line);
        }
        lines
    }

    /// Waits for SIGTERM, and then as long as is said, but not for the end of its input.
    fn cleans_up(seconds: f32) -> String {
        format!(
            "trap 'sleep {seconds}; echo clean >&2; exit' TERM; echo ready >&2; while :; do sleep 0.05; done"
        )
    }

    #[tokio::test]
    async fn one_that_does_not_end_with_its_input_gets_sigterm() {
        let (client, mut told) = started(&cleans_up(0.0), Duration::from_secs(3));
        assert_eq!(soon(told.recv()).await.as_deref(), Some("ready"));
        soon(client.close()).await.unwrap();
        assert!(rest(told).await.contains(&"clean".to_owned()));
    }

    #[tokio::test]
    async fn the_server_of_a_wrapper_gets_sigterm_and_the_time_to_clean_up() {
        // The wrapper itself ends by the signal.
        let script = format!("({}); true", cleans_up(0.2));
        let (client, mut told) = started(&script, Duration::from_secs(3));
        assert_eq!(soon(told.recv()).await.as_deref(), Some("ready"));
        soon(client.close()).await.unwrap();
        assert!(rest(told).await.contains(&"clean".to_owned()));
    }

    #[tokio::test]
    async fn the_server_of_a_wrapper_is_killed_if_it_does_not_end() {
        let script = "(trap '' TERM; echo ready >&2; sleep 60); true";
        let (client, mut told) = started(script, Duration::from_millis(100));
        assert_eq!(soon(told.recv()).await.as_deref(), Some("ready"));
        // The wrapper ends by SIGTERM.
        soon(client.close()).await.unwrap();
        rest(told).await;
    }

    #[tokio::test]
    async fn what_a_server_leaves_that_ends_by_itself_is_left_alone() {
        let script = "sleep 60 > /dev/null 2>&1 & echo $! >&2; cat > /dev/null";
        let (client, mut told) = started(script, Duration::from_secs(30));
        let daemon = soon(told.recv()).await.unwrap();
        soon(client.close()).await.unwrap();
        let killed = std::process::Command::new("kill").arg(daemon).status();
        assert!(killed.unwrap().success(), "it was at work until now");
    }

    /// A pipe with a name, which processes hold open, and the thread that waits until none does.
    struct Held {
        folder: PathBuf,
        pipe: String,
        events: UnboundedReceiver<&'static str>,
    }

    impl Held {
        fn new(name: &str) -> Self {
            let name = format!("mcp-revisions-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
            let (tell, events) = unbounded_channel();
            let path = pipe.clone();
            std::thread::spawn(move || {
                let mut file = File::open(path).unwrap();
                let _ = tell.send("held");
                file.read_to_end(&mut Vec::new()).unwrap();
                let _ = tell.send("gone");
            });
            let pipe = pipe.display().to_string();
            Self {
                folder,
                pipe,
                events,
            }
        }

        async fn is(&mut self, event: &str) {
            assert_eq!(soon(self.events.recv()).await, Some(event));
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    #[tokio::test]
    async fn the_server_of_a_wrapper_is_killed_with_its_client() {
        let mut held = Held::new("dropped");
        let script = format!("exec 9> '{}'; sleep 60; true", held.pipe);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let client = {
            let _within = runtime.enter();
            client().child(Child::new(shell(&script))).unwrap()
        };
        held.is("held").await;
        // The task that would end the server is dropped.
        runtime.shutdown_background();
        held.is("gone").await;
        drop(client);
    }

    #[tokio::test]
    async fn the_server_of_a_wrapper_is_killed_before_another_is_started() {
        let mut held = Held::new("restarted");
        let script = format!(
            "if mkdir '{0}/flag' 2> /dev/null; then read line; exec 9> '{1}' >&-; sleep 60; fi; {2}",
            held.folder.display(),
            held.pipe,
            server()
        );
        let client = client().child(Child::new(shell(&script))).unwrap();
        let answer = soon(call(&client, "hello")).await;
        assert_eq!(answer, Ok("hello".to_owned()));
        held.is("held").await;
        held.is("gone").await;
    }
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
