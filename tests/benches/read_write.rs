//! How long it takes to read and to write each message, beside what serde_json needs for the same bytes.
//!
//! `cargo bench -p mcp-tests --bench read_write [-- WORD]` prints one line for each message whose name has the word:
//! the floor (`serde_json` as `IgnoredAny`: the text is checked, nothing is kept), and multiples of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench that cannot read its own messages has to end"
)]

#[allow(
    dead_code,
    unreachable_pub,
    reason = "the other benches use the rest of it"
)]
mod contest;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the other benches use the rest of it"
)]
mod messages;
#[allow(unreachable_pub, reason = "a bench has no outside")]
mod ours;

use contest::{print_table, task, time};
use serde::de::IgnoredAny;
use serde_json::Value;

fn main() {
    // Cargo says --bench when it wants times; else this is a test run, and each message is read once.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let word = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let messages = ours::messages();
    let header = [
        "message", "bytes", "floor ns", "read", "Value", "write", "Value",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for message in &messages {
        if word
            .as_ref()
            .is_some_and(|word| !message.name.contains(word.as_str()))
        {
            continue;
        }
        let text = message.text.as_str();
        let ours = (message.subject)(text);
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&ours.written).unwrap(),
            value,
            "{} comes back changed",
            message.name
        );
        if !is_bench {
            continue;
        }
        let timings = time(&[
            &task(|| serde_json::from_str::<IgnoredAny>(std::hint::black_box(text)).is_ok()),
            &ours.read,
            &task(|| serde_json::from_str::<Value>(std::hint::black_box(text)).is_ok()),
            &ours.write,
            &task(|| serde_json::to_string(std::hint::black_box(&value)).unwrap()),
        ]);
        let mut line = vec![
            message.name.clone(),
            text.len().to_string(),
            format!("{:.0}", timings[0].nanoseconds),
        ];
        line.extend(
            timings
                .iter()
                .skip(1)
                .map(|timing| format!("{:.2}", timing.ratio)),
        );
        lines.push(line);
    }
    if is_bench {
        print_table(&lines);
    }
}
