//! How often conversions between revisions ask for memory, beside reading the same bytes.
//!
//! `cargo bench -p mcp-tests --bench shims_allocations` prints one line for each conversion.
//! A program of its own, as counting takes time.

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
#[allow(dead_code, reason = "the bench of times uses the rest of it")]
mod conversions;
#[path = "messages.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the other benches use the rest of it"
)]
mod messages;

use std::alloc::System;

use contest::print_table;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let header = ["conversion", "read", "convert"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for one in conversions::conversions() {
        let region = Region::new(ALLOCATOR);
        let values = (one.read)(&one.text, 1);
        let read = region.change().allocations;
        let region = Region::new(ALLOCATOR);
        let converted = (one.convert)(values);
        let convert = region.change();
        drop(converted);
        let convert = format!("{} +{}", convert.allocations, convert.reallocations);
        lines.push(vec![one.name, read.to_string(), convert]);
    }
    print_table(&lines);
}
