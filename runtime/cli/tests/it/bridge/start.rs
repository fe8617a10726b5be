//! Servers that start late, as those do that are downloaded first, or not at all.

use std::process::Child;
use std::thread;

use mcp_revisions_core::Revision;

use crate::bridge::http::{LISTENING, initialize_over_http, port_of};
use crate::bridge::talk::{Talk, peer};
use crate::mcp_rev;

/// Longer than a server may be silent about the probe before it is sent `initialize`.
const LATE: &str = "sleep 6; exec \"$0\" \"$@\"";

/// A bridge to a server of one revision that starts by this script.
fn bridge_by(script: &str, options: &[&str], server: Revision) -> Child {
    mcp_rev("bridge")
        .args(options)
        .args(["--", "sh", "-c", script])
        .arg(peer())
        .args(["--only", server.id()])
        .spawn()
        .unwrap()
}

/// Each of them waits for seconds, so they wait side by side.
#[cfg(unix)]
#[test]
fn a_server_that_starts_late_is_used_as_one_that_does_not() {
    let ends = [Revision::V2025_06_18, Revision::LATEST];
    thread::scope(|scope| {
        for server in ends {
            for client in ends {
                for is_pinned in [false, true] {
                    scope.spawn(move || {
                        let pinned = ["--upstream-revision", server.id()];
                        let options = if is_pinned { &pinned[..] } else { &[] };
                        let mut talk = Talk::new(client, bridge_by(LATE, options, server));
                        talk.adds();
                        let is_introduced = |(is_clients, text): &(bool, String)| {
                            !is_clients && text.contains(r#""name":"peer""#)
                        };
                        assert!(talk.said.iter().any(is_introduced), "{:?}", talk.said);
                        assert_eq!(talk.ends().0, Some(0));
                    });
                }
            }
            scope.spawn(move || {
                let (_bridge, port) = port_of(bridge_by(LATE, &LISTENING, server));
                let opened = initialize_over_http(port, Revision::V2025_06_18);
                assert_eq!(opened["result"]["serverInfo"]["name"], "peer", "{opened}");
                let tools = &opened["result"]["capabilities"]["tools"];
                assert!(tools.is_object(), "{opened}");
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn a_server_that_does_not_start_in_its_time_is_an_error_with_the_reason() {
    let clients = [Revision::V2025_06_18, Revision::LATEST];
    let bridges = clients.map(|client| {
        let bridge = bridge_by("sleep 60", &["--start-timeout", "1"], client);
        (Talk::new(client, bridge), client)
    });
    for (mut talk, client) in bridges {
        let answer = talk.call("add").to_string();
        let why = "did not say which revision it speaks within 1 s";
        assert!(answer.contains(why), "{client}: {answer}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_dies_at_its_start_is_told_with_its_status() {
    for client in [Revision::V2025_06_18, Revision::LATEST] {
        let script = "echo 'no module named x' >&2; printf 'v\\033[2J22\\n' >&2; exit 3";
        let mut talk = Talk::new(client, bridge_by(script, &[], client));
        let add = talk.tool("add");
        let answer = format!("{:?}", talk.answers(&[add])[&add]);
        assert!(answer.contains("exit status: 3"), "{answer}");
        // The last line of a stack trace is not the one that says why.
        assert!(answer.contains("no module named x"), "{answer}");
        assert!(!answer.contains('\u{1b}'), "{answer}");
        let (code, said) = talk.ends();
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("no module named x"), "{said}");
    }
}

/// A server that speaks both lifecycles is asked in that of its client.
#[test]
fn the_traffic_with_a_server_is_of_the_revision_of_its_client() {
    for client in Revision::NEGOTIATED {
        let record =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("own-{client}.jsonl"));
        let child = mcp_rev("bridge --loss-log off --record")
            .arg(&record)
            .arg("--")
            .arg(peer())
            .spawn()
            .unwrap();
        let mut talk = Talk::new(*client, child);
        talk.adds();
        talk.ends();
        let record = std::fs::read_to_string(record).unwrap();
        let first = record.lines().next().unwrap();
        assert!(first.contains(client.protocol_version()), "{first}");
    }
}

/// Launchers such as `npx` take `--` for themselves.
#[cfg(unix)]
#[test]
fn a_command_is_understood_without_the_separator() {
    let child = mcp_rev("--color never bridge --loss-log off env -u HOME")
        .arg(peer())
        .args(["--only", Revision::LATEST.id()])
        .spawn()
        .unwrap();
    let mut talk = Talk::new(Revision::V2025_06_18, child);
    talk.adds();
    assert_eq!(talk.ends().0, Some(0));
}
