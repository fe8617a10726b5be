//! How fast a message is looked at, beside `serde_json` reading the same bytes as `IgnoredAny`: the floor, where the text
//! is checked and nothing is kept.
//!
//! `cargo bench -p mcp-revisions --bench look`. That a look allocates nothing is tested in `tests/allocations.rs`.

#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot read its own messages has to end"
)]

mod messages;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mcp_revisions::core::negotiate;
use mcp_revisions::{RevisionSet, core::peek};
use messages::{HANDSHAKE_CALL, INITIALIZE, PER_REQUEST_CALL};
use serde::de::IgnoredAny;

fn main() {
    divan::main();
}

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1842","progress":512,"total":2048,"message":"reading index"}}"#;

/// The messages that are looked at, by name.
fn message(name: &str) -> String {
    let text = match name {
        "call" => HANDSHAKE_CALL.to_owned(),
        "per-request call" => PER_REQUEST_CALL.to_owned(),
        "initialize" => INITIALIZE.replace("{version}", "2025-11-25"),
        "progress" => PROGRESS.to_owned(),
        _ => {
            let row = r#"{"path":"src/lib.rs","line":120,"text":"fn main() { println!(\"hello\"); }","tags":["a","b"]}"#;
            let rows = vec![row; 1000].join(",");
            HANDSHAKE_CALL.replace("\"limit\":25", &format!("\"rows\":[{rows}]"))
        }
    };
    text.replace("{id}", "1842")
}

const NAMES: &[&str] = &[
    "call",
    "per-request call",
    "initialize",
    "progress",
    "call of 100 kB",
];

#[divan::bench(args = NAMES)]
fn ignored_any(bencher: Bencher<'_, '_>, name: &str) {
    let text = message(name);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| serde_json::from_slice::<IgnoredAny>(black_box(text.as_bytes())).unwrap());
}

#[divan::bench(args = NAMES)]
fn peek_alone(bencher: Bencher<'_, '_>, name: &str) {
    let text = message(name);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let message = peek(black_box(text.as_bytes()));
        assert!(black_box(&message).is_ok());
    });
}

#[divan::bench(args = ["call", "per-request call"])]
fn peek_and_negotiate(bencher: Bencher<'_, '_>, name: &str) {
    let text = message(name);
    let served = RevisionSet::all();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let message = peek(black_box(text.as_bytes()));
        assert!(
            message
                .as_ref()
                .is_ok_and(|message| negotiate(black_box(message), None, served).is_ok())
        );
    });
}
