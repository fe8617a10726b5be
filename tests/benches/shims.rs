//! How long conversions between revisions take, beside reading the same bytes.
//!
//! `cargo bench -p mcp-tests --bench shims [-- WORD]` prints one line for each conversion whose name has the word:
//! reading in nanoseconds, converting in nanoseconds, and converting as a part of reading. One step shall cost at most
//! a tenth where it loses nothing and three tenths where it does, four steps up at most a half.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench that cannot read its own messages has to end"
)]

#[path = "contest.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the other benches use the rest of it"
)]
mod contest;
mod conversions;
#[path = "messages.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the other benches use the rest of it"
)]
mod messages;

use std::time::{Duration, Instant};

use contest::print_table;
use conversions::Conversion;

/// How many rounds there are; the median of them counts.
const ROUNDS: usize = 61;
/// How many values are read and converted in a round.
const BATCH: usize = 16;

fn main() {
    // Cargo says --bench when it wants times; else this is a test run, and each message is converted once.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let word = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let header = ["conversion", "bytes", "read ns", "convert ns", "part"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for one in conversions::conversions() {
        if word
            .as_ref()
            .is_some_and(|word| !one.name.contains(word.as_str()))
        {
            continue;
        }
        if !is_bench {
            assert_eq!(
                (one.convert)((one.read)(&one.text, 1)).len(),
                1,
                "{}",
                one.name
            );
            continue;
        }
        let [read, convert] = time(&one);
        lines.push(vec![
            one.name.clone(),
            one.text.len().to_string(),
            format!("{read:.0}"),
            format!("{convert:.0}"),
            format!("{:.3}", convert / read),
        ]);
    }
    if is_bench {
        print_table(&lines);
    }
}

/// Nanoseconds of reading and of converting one value.
fn time(one: &Conversion) -> [f64; 2] {
    let mut rounds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let values = (one.read)(&one.text, BATCH);
        rounds[0].push(start.elapsed());
        let start = Instant::now();
        let converted = (one.convert)(values);
        rounds[1].push(start.elapsed());
        drop(converted);
    }
    rounds.map(|mut round| {
        round.sort_unstable();
        round.get(ROUNDS / 2).map_or(0.0, Duration::as_secs_f64) * 1e9 / BATCH as f64
    })
}
