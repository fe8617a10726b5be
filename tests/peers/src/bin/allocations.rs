//! How many blocks of memory each library asks for to read and to write each message.
//!
//! `cargo run --release --bin allocations`; after a plus sign, how many of them had to grow.
//! A program of its own, as counting takes time.

use std::alloc::System;

use mcp_peers::contest::{Task, print_table};
use mcp_peers::{LIBRARIES, rows};
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
    let header = |first| -> Vec<String> {
        let cells = std::iter::once(first).chain(LIBRARIES);
        cells.map(str::to_owned).collect()
    };
    let mut read = vec![header("read, allocations")];
    let mut write = vec![header("write, allocations")];
    for row in &rows() {
        let mut read_line = vec![row.name.to_owned()];
        let mut write_line = read_line.clone();
        for subject in &row.subjects() {
            let cells = subject
                .as_ref()
                .map(|subject| [count(&subject.read), count(&subject.write)]);
            let [read, write] = cells.unwrap_or(["-", "-"].map(str::to_owned));
            read_line.push(read);
            write_line.push(write);
        }
        read.push(read_line);
        write.push(write_line);
    }
    print_table(&read);
    print_table(&write);
}
