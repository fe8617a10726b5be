//! How long each library takes to read and to write each message, as multiples of the floor:
//! `serde_json` reading the same bytes as `IgnoredAny`, which checks the text and keeps nothing.
//!
//! `cargo run --release --bin times [-- WORD]`, with the rows whose names have the word.

use std::hint::black_box;

use mcp_peers::contest::{Task, Timing, print_table, task, time};
use mcp_peers::{LIBRARIES, defect, rows};
use serde::de::IgnoredAny;
use serde_json::Value;

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    let header = |first: &[&str], more: &[&str]| -> Vec<String> {
        let cells = first.iter().chain(&LIBRARIES).chain(more);
        cells.map(|cell| (*cell).to_owned()).collect()
    };
    let mut read = vec![header(&["read", "bytes", "floor ns"], &["Value"])];
    let mut write = vec![header(&["write"], &["Value"])];
    let mut notes = Vec::new();
    for row in rows().iter().filter(|row| row.name.contains(&word)) {
        let text = row.text.as_str();
        let subjects = row.subjects();
        let value: Option<Value> = serde_json::from_str(text).ok();
        let floor = task(|| serde_json::from_str::<IgnoredAny>(black_box(text)).is_ok());
        let read_value = task(|| serde_json::from_str::<Value>(black_box(text)).is_ok());
        let write_value = task(|| serde_json::to_string(black_box(&value)).unwrap_or_default());
        let mut tasks: Vec<&Task<'_>> = vec![&floor, &read_value, &write_value];
        for subject in subjects.iter().flatten() {
            tasks.extend([&subject.read, &subject.write]);
        }
        let timings = time(&tasks);
        let (own, theirs) = timings.split_at(3);
        let mut theirs = theirs.chunks(2);
        let ratio = |timing: &Timing| format!("{:.2}", timing.ratio);
        let mut read_line = vec![
            row.name.to_owned(),
            text.len().to_string(),
            format!("{:.0}", own[0].nanoseconds),
        ];
        let mut write_line = vec![row.name.to_owned()];
        for (library, subject) in LIBRARIES.iter().zip(&subjects) {
            let mark = match defect(text, subject) {
                Some(defect) => {
                    notes.push(format!("* {library}, {}: {defect}", row.name));
                    "*"
                }
                None => "",
            };
            let pair = match subject {
                Ok(_) => theirs.next(),
                Err(_) => None,
            };
            match pair {
                Some([read, write]) => {
                    read_line.push(ratio(read) + mark);
                    write_line.push(ratio(write) + mark);
                }
                _ => {
                    read_line.push(format!("-{mark}"));
                    write_line.push(format!("-{mark}"));
                }
            }
        }
        read_line.push(ratio(&own[1]));
        write_line.push(ratio(&own[2]));
        read.push(read_line);
        write.push(write_line);
    }
    print_table(&read);
    print_table(&write);
    for note in notes {
        println!("{note}");
    }
}
