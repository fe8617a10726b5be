//! How often each message asks for memory, beside what serde_json does for the same bytes.
//!
//! `cargo bench -p mcp-tests --bench allocations` prints one line for each message:
//! new blocks, and after the plus sign blocks that had to grow.
//! A program of its own, as counting takes time.

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

use std::alloc::System;

use contest::{Task, print_table, task};
use serde_json::Value;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// New blocks and grown blocks of one run.
fn count(task: &Task<'_>) -> String {
    let region = Region::new(ALLOCATOR);
    task(1);
    let change = region.change();
    match change.reallocations {
        0 => change.allocations.to_string(),
        grown => format!("{} +{grown}", change.allocations),
    }
}

fn main() {
    let header = ["message", "bytes", "read", "Value", "write", "Value"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for message in &ours::messages() {
        let text = message.text.as_str();
        let ours = (message.subject)(text);
        let value: Value = serde_json::from_str(text).unwrap();
        lines.push(vec![
            message.name.clone(),
            text.len().to_string(),
            count(&ours.read),
            count(&task(|| serde_json::from_str::<Value>(text).unwrap())),
            count(&ours.write),
            count(&task(|| serde_json::to_string(&value).unwrap())),
        ]);
    }
    print_table(&lines);
}
