//! Libraries that read and write the same bytes, timed in turn.
//!
//! Everything is measured in rounds, a short batch of each in every round,
//! and compared within the round: what slows the machine for a while slows all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How many rounds there are; the median of them counts.
const ROUNDS: usize = 101;

/// How long a batch takes at least.
const BATCH: Duration = Duration::from_micros(700);

/// Something to repeat as often as it is told.
pub type Task<'a> = Box<dyn Fn(u32) + 'a>;

/// What one library does with one message.
pub struct Subject<'a> {
    /// Reads the text, and drops what was read.
    pub read: Task<'a>,
    /// Writes what was read, into a string of its own.
    pub write: Task<'a>,
    /// What it writes.
    pub written: String,
}

impl<'a> Subject<'a> {
    /// Reads `text` once, so that what cannot be read is known before anything is timed.
    ///
    /// # Errors
    /// What `read` says.
    pub fn new<T: 'a, E>(
        text: &'a str,
        read: impl Fn(&'a str) -> Result<T, E> + 'a,
        write: impl Fn(&T) -> String + 'a,
    ) -> Result<Self, E> {
        let value = read(text)?;
        let written = write(&value);
        Ok(Self {
            read: task(move || read(black_box(text)).is_ok()),
            write: task(move || write(black_box(&value))),
            written,
        })
    }
}

/// Repeats `once`; its result is dropped, and the compiler does not know that.
pub fn task<'a, T>(once: impl Fn() -> T + 'a) -> Task<'a> {
    Box::new(move |times| {
        for _ in 0..times {
            black_box(once());
        }
    })
}

/// What a task took.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Nanoseconds for one repetition.
    pub nanoseconds: f64,
    /// The same, as a multiple of what the first task took in the same round.
    pub ratio: f64,
}

/// Times the tasks against the first of them.
pub fn time(tasks: &[&Task<'_>]) -> Vec<Timing> {
    let sizes: Vec<u32> = tasks.iter().map(|task| batch_size(task)).collect();
    let mut rounds = vec![Vec::with_capacity(ROUNDS); tasks.len()];
    for _ in 0..ROUNDS {
        for ((task, &size), results) in tasks.iter().zip(&sizes).zip(&mut rounds) {
            results.push(measure(task, size).as_nanos() as f64 / f64::from(size));
        }
    }
    let floor = rounds[0].clone();
    rounds
        .iter()
        .map(|results| Timing {
            nanoseconds: median(results.clone()),
            ratio: median(results.iter().zip(&floor).map(|(a, b)| a / b).collect()),
        })
        .collect()
}

fn batch_size(task: &Task<'_>) -> u32 {
    let mut size = 1;
    loop {
        let took = measure(task, size);
        if took >= BATCH || size >= 1 << 20 {
            return size;
        }
        // Halfway there at once, if the first repetitions tell anything.
        let missing = BATCH.as_nanos() / took.as_nanos().max(1);
        size *= (missing as u32 / 2).clamp(2, 64);
    }
}

fn measure(task: &Task<'_>, size: u32) -> Duration {
    let start = Instant::now();
    task(size);
    start.elapsed()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints lines of equal columns, the first to the left and the others to the right.
pub fn print_table(lines: &[Vec<String>]) {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell: &String| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (index, line) in lines.iter().enumerate() {
        let cells = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
        if index == 0 {
            let rules = widths.iter().enumerate().map(|(column, width)| {
                let end = if column == 0 { "-" } else { ":" };
                format!("{}{end}", "-".repeat(width + 1))
            });
            println!("|{}|", rules.collect::<Vec<_>>().join("|"));
        }
    }
    println!();
}
