//! The command line: a campaign of so many seconds, or inputs that are run once.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use mcp_fuzz::campaign::{self, Campaign};
use mcp_fuzz::target::{self, Target};

/// Hands random inputs to the readers of the project, and writes down those that break a law.
#[derive(Parser)]
struct Arguments {
    /// Seconds to run.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Seed of the campaign; the same seed gives the same inputs to a single thread.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Targets to run; may be repeated [default: all].
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Threads [default: one for each core].
    #[arg(long)]
    threads: Option<usize>,
    /// Folder for the inputs that fail.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/found"))]
    found: PathBuf,
    /// Runs these files once, each of the target that its folder is named after, in place of a campaign.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if !arguments.files.is_empty() {
        let mut failed = 0;
        for file in &arguments.files {
            if let Err(fault) = campaign::replay(file)? {
                println!("{}: {fault}", file.display());
                failed += 1;
            }
        }
        println!("{} inputs, {failed} failed", arguments.files.len());
        return Ok(ExitCode::from(u8::from(failed > 0)));
    }
    let named: Vec<&'static Target> = (arguments.targets.iter())
        .map(|name| target::find(name))
        .collect::<anyhow::Result<_>>()?;
    let campaign = Campaign {
        targets: if named.is_empty() {
            target::ALL.iter().collect()
        } else {
            named
        },
        time: Duration::from_secs(arguments.seconds),
        most_runs: u64::MAX,
        seed: arguments.seed,
        threads: (arguments.threads)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        found: arguments.found,
    };
    let summary = campaign.run()?;
    print!("{summary}");
    Ok(ExitCode::from(u8::from(summary.faults() > 0)))
}
