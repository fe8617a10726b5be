//! A campaign: threads that take turns at the targets, a watch for inputs that take too long, and what came of it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use mcp_tests::random::Random;

use crate::mutate::mutate;
use crate::target::{self, Signature, Target};

/// Time that one input may take; the slowest input takes some milliseconds.
const SLOW: Duration = Duration::from_secs(20);
/// Maximum number of bytes of an input.
const MOST_BYTES: usize = 64 << 10;
/// Maximum number of inputs that a target keeps beside its first ones.
const MOST_KEPT: usize = 4096;
/// Maximum number of faults of a target in a campaign: more say nothing new.
const MOST_FAULTS: usize = 20;

/// What is run, for how long, and where the inputs that fail go.
pub struct Campaign {
    /// The targets, in turn.
    pub targets: Vec<&'static Target>,
    /// Time after which it ends.
    pub time: Duration,
    /// Number of inputs of each thread after which it ends.
    pub most_runs: u64,
    /// Seed of the choices.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Folder for the inputs that fail.
    pub found: PathBuf,
}

/// Number of inputs and faults of each target.
#[derive(Debug, Default)]
pub struct Summary(BTreeMap<&'static str, Score>);

#[derive(Debug, Default, Clone)]
struct Score {
    runs: u64,
    behaviours: usize,
    faults: Vec<String>,
}

impl Summary {
    /// Returns the number of inputs that failed.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.0.values().map(|score| score.faults.len()).sum()
    }

    /// Returns the number of inputs that a target took.
    #[must_use]
    pub fn runs(&self, target: &str) -> u64 {
        self.0.get(target).map_or(0, |score| score.runs)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, score) in &self.0 {
            let faults = score.faults.len();
            writeln!(
                f,
                "{name:<10} {:>10} inputs {:>6} behaviours {faults:>3} faults",
                score.runs, score.behaviours
            )?;
            for fault in &score.faults {
                writeln!(f, "  {fault}")?;
            }
        }
        Ok(())
    }
}

/// The input that a thread is busy with, and since when.
type Busy = Arc<Mutex<Option<(Instant, &'static str, Vec<u8>)>>>;

impl Campaign {
    /// Runs it. An input that takes too long ends the process after it was written down, because nothing else can stop it.
    ///
    /// # Errors
    /// Returns an error if the folder for failing inputs cannot be written.
    pub fn run(&self) -> anyhow::Result<Summary> {
        let corpora: Vec<Vec<Vec<u8>>> = self
            .targets
            .iter()
            .map(|target| (target.corpus)())
            .collect();
        let summary = Mutex::new(Summary::default());
        let failure = Mutex::new(None);
        let stopped = AtomicBool::new(false);
        let end = Instant::now() + self.time;
        let threads = AtomicU64::new(u64::try_from(self.threads)?);
        let busy: Vec<Busy> = (0..self.threads).map(|_| Busy::default()).collect();
        std::panic::set_hook(Box::new(|_| {}));
        std::thread::scope(|scope| {
            for (number, busy) in busy.iter().enumerate() {
                let (corpora, summary, failure, stopped, threads) =
                    (&corpora, &summary, &failure, &stopped, &threads);
                scope.spawn(move || {
                    let seed = self
                        .seed
                        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                        .wrapping_add(number as u64);
                    if let Err(error) =
                        self.work(seed, corpora.clone(), end, stopped, busy, summary)
                    {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        stopped.store(true, Ordering::Relaxed);
                    }
                    threads.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while threads.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(Duration::from_millis(20));
                for busy in &busy {
                    let busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some((since, target, input)) = &*busy
                        && since.elapsed() > SLOW
                    {
                        let kept = self.keep(target, input);
                        println!("{target}: an input takes more than {SLOW:?}: {kept:?}");
                        std::process::exit(1);
                    }
                }
            }
        });
        let _ = std::panic::take_hook();
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(summary.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Takes turns at the targets until the time is over.
    fn work(
        &self,
        seed: u64,
        mut corpora: Vec<Vec<Vec<u8>>>,
        end: Instant,
        stopped: &AtomicBool,
        busy: &Busy,
        summary: &Mutex<Summary>,
    ) -> anyhow::Result<()> {
        let mut random = Random::new(seed);
        let mut scores = vec![Score::default(); self.targets.len()];
        let mut seen: Vec<HashSet<Signature>> = vec![HashSet::new(); self.targets.len()];
        let first: Vec<usize> = corpora.iter().map(Vec::len).collect();
        for run in 0..self.most_runs {
            if Instant::now() >= end || stopped.load(Ordering::Relaxed) {
                break;
            }
            let turn = usize::try_from(run)? % self.targets.len();
            let (target, corpus) = (self.targets[turn], &mut corpora[turn]);
            let score = &mut scores[turn];
            if score.faults.len() >= MOST_FAULTS {
                continue;
            }
            let mut input = mutate(&mut random, corpus);
            input.truncate(MOST_BYTES);
            *busy.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((Instant::now(), target.name, input.clone()));
            let outcome = guarded(target, &input);
            *busy.lock().unwrap_or_else(PoisonError::into_inner) = None;
            score.runs += 1;
            match outcome {
                Ok(signature) => {
                    if seen[turn].insert(signature) && corpus.len() < first[turn] + MOST_KEPT {
                        corpus.push(input);
                    }
                }
                Err(fault) => {
                    let kept = self.keep(target.name, &input)?;
                    score.faults.push(format!("{}: {fault}", kept.display()));
                }
            }
        }
        let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
        for ((target, score), seen) in self.targets.iter().zip(scores).zip(seen) {
            let all = summary.0.entry(target.name).or_default();
            all.runs += score.runs;
            all.behaviours = all.behaviours.max(seen.len());
            all.faults.extend(score.faults);
        }
        Ok(())
    }

    /// Writes an input down; its name is a digest of it, so that one input has one file.
    fn keep(&self, target: &str, input: &[u8]) -> anyhow::Result<PathBuf> {
        let folder = self.found.join(target);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let path = folder.join(format!("{:016x}", target::digest(input)));
        std::fs::write(&path, input).with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

/// Runs one input; a panic is a fault.
fn guarded(target: &Target, input: &[u8]) -> Result<Signature, String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Runs a file once, of the target that its folder is named after. Returns what is wrong, if something is.
///
/// # Errors
/// Returns an error if the file cannot be read, or its folder has no target's name.
pub fn replay(file: &Path) -> anyhow::Result<Result<(), String>> {
    let folder = file
        .parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    let target = target::find(folder.unwrap_or_default())?;
    let input = std::fs::read(file).with_context(|| file.display().to_string())?;
    Ok(guarded(target, &input).map(drop))
}
