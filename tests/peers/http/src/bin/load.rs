//! Calls one tool again and again over 64 connections, and prints calls a second, p50 and p99 in microseconds:
//! `load PORT sessions|stateless|per-request SECONDS`.

use std::time::{Duration, Instant};

use peers_http::{Client, Failure, Mode, at};

const CONNECTIONS: usize = 64;
/// What is not counted: connections open, and code and memory get warm.
const WARM: Duration = Duration::from_secs(1);

async fn work(port: u16, mode: Mode, until: Instant, from: Instant) -> Result<Vec<u32>, Failure> {
    let mut client = Client::connect(port, mode).await?;
    let mut took = Vec::new();
    let mut number = 0;
    while Instant::now() < until {
        number += 1;
        let start = Instant::now();
        client.call(mode, number).await?;
        if start >= from {
            took.push(u32::try_from(start.elapsed().as_micros())?);
        }
    }
    Ok(took)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let [port, mode, seconds] = peers_http::arguments()?;
    let (port, seconds) = (port.parse()?, Duration::from_secs(seconds.parse()?));
    let mode = match mode.as_str() {
        "sessions" => Mode::Sessions,
        "stateless" => Mode::Stateless,
        "per-request" => Mode::PerRequest,
        other => return Err(format!("`sessions`, `stateless` or `per-request`, not `{other}`").into()),
    };
    let from = Instant::now() + WARM;
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| tokio::spawn(work(port, mode, from + seconds, from)))
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    took.sort_unstable();
    let rate = took.len() as u64 / seconds.as_secs().max(1);
    println!(
        "{rate:>7} calls/s   p50 {:>6} us   p99 {:>6} us",
        at(&took, 50),
        at(&took, 99)
    );
    Ok(())
}
