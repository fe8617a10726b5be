//! Texts that a thread writes: the code that has a text never waits for a reader or a disk.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the end of the program waits for texts that are still queued.
pub(crate) const FLUSH: Duration = Duration::from_secs(1);

/// What a queued text takes beside its bytes.
const OVERHEAD: usize = 64;

/// A thread with a bounded queue of texts; clones share it.
///
/// A text that finds no room is dropped. From then on texts are dropped until half of the queue is written; then a line of
/// [`Destination`] tells how many are missing.
#[derive(Clone)]
pub(crate) struct Background(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Signals a queued text to the thread, and a written one to [`Background::flush`].
    changed: Condvar,
    /// Most bytes that wait.
    limit: usize,
    /// Lines that were dropped, or whose write failed.
    missing: AtomicU64,
}

#[derive(Default)]
struct Queue {
    texts: VecDeque<Queued>,
    bytes: usize,
    /// Whether texts are dropped until the queue is half empty.
    is_full: bool,
    /// The destinations of dropped texts.
    behind: Vec<Arc<Destination>>,
    /// Whether the thread has taken a text out and not written it yet.
    is_writing: bool,
}

struct Queued {
    to: Arc<Destination>,
    /// `None` for the line alone that tells how many texts are missing.
    text: Option<String>,
}

impl Background {
    /// Starts the thread, with a queue of at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the system starts no thread.
    pub(crate) fn start(limit: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            limit,
            missing: AtomicU64::new(0),
        });
        let written = Arc::clone(&shared);
        thread::Builder::new().spawn(move || written.write_all())?;
        Ok(Self(shared))
    }

    /// Queues a text, which has whole lines; drops it if the queue is full.
    pub(crate) fn write(&self, to: &Arc<Destination>, text: String) {
        let Shared {
            changed,
            limit,
            missing,
            ..
        } = &*self.0;
        let mut queue = self.0.lock();
        let bytes = text.len() + OVERHEAD;
        if queue.is_full || (queue.bytes > 0 && queue.bytes + bytes > *limit) {
            queue.is_full = true;
            let lines = lines(&text);
            missing.fetch_add(lines, Ordering::Relaxed);
            if to.dropped.fetch_add(lines, Ordering::Relaxed) == 0 {
                queue.behind.push(Arc::clone(to));
            }
            return;
        }
        queue.bytes += bytes;
        let (to, text) = (Arc::clone(to), Some(text));
        queue.texts.push_back(Queued { to, text });
        changed.notify_all();
    }

    /// Waits until every text is written, or until `deadline`, and returns how many lines are not written.
    pub(crate) fn flush(&self, deadline: Instant) -> u64 {
        let left = deadline.saturating_duration_since(Instant::now());
        let is_busy = |queue: &mut Queue| queue.is_writing || !queue.texts.is_empty();
        let queue = self.0.lock();
        let (queue, _) = (self.0.changed)
            .wait_timeout_while(queue, left, is_busy)
            .unwrap_or_else(PoisonError::into_inner);
        let queued = queue
            .texts
            .iter()
            .filter_map(|queued| queued.text.as_deref());
        let writing = u64::from(queue.is_writing);
        let missing = self.0.missing.load(Ordering::Relaxed);
        missing + writing + queued.map(lines).sum::<u64>()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes texts as they come, for as long as the program runs.
    fn write_all(&self) {
        let mut queue = self.lock();
        loop {
            let Some(Queued { to, text }) = queue.texts.pop_front() else {
                queue = (self.changed.wait(queue)).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.is_writing = true;
            drop(queue);
            let failed = to.write(text.as_deref());
            self.missing.fetch_add(failed, Ordering::Relaxed);
            // A file that nobody writes any more is closed outside of the lock.
            drop(to);
            queue = self.lock();
            queue.is_writing = false;
            let bytes = text.map_or(0, |text| text.len() + OVERHEAD);
            queue.bytes = queue.bytes.saturating_sub(bytes);
            if queue.is_full && queue.bytes <= self.limit / 2 {
                queue.is_full = false;
                let behind = std::mem::take(&mut queue.behind).into_iter();
                queue
                    .texts
                    .extend(behind.map(|to| Queued { to, text: None }));
            }
            self.changed.notify_all();
        }
    }
}

/// Where texts are written.
pub(crate) struct Destination {
    /// The name for people: `standard error`, or a path.
    name: String,
    /// The line that stands where texts are missing, for their number.
    gap: fn(u64) -> String,
    /// Lines that found no room since the last line of `gap` was queued.
    dropped: AtomicU64,
    /// Locked by the thread only.
    output: Mutex<Output>,
    /// The function that gets the first failure.
    on_failure: fn(&str),
}

struct Output {
    target: Target,
    /// Whether the last write failed, perhaps in the middle of a line.
    is_cut: bool,
    /// Whether [`Destination::on_failure`] was called.
    has_failed: bool,
    /// Missing lines that no line of `gap` tells yet.
    untold: u64,
}

enum Target {
    Open(Box<dyn Write + Send>),
    /// A path that the thread opens.
    Path(PathBuf, fn(&Path) -> io::Result<File>),
}

impl Destination {
    /// Returns a destination that is open.
    pub(crate) fn new(name: &str, to: impl Write + Send + 'static, gap: fn(u64) -> String) -> Self {
        Self::of(name, Target::Open(Box::new(to)), gap, |_| ())
    }

    /// Creates a file that its user named, or opens it empty. A pipe without a reader is opened by the thread, which waits for
    /// the reader. `on_failure` gets the first failed write, in words.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub(crate) fn file(
        path: &str,
        gap: fn(u64) -> String,
        on_failure: fn(&str),
    ) -> io::Result<Self> {
        let target = if is_pipe(Path::new(path)) {
            Target::Path(path.into(), create)
        } else {
            Target::Open(Box::new(create(Path::new(path))?))
        };
        Ok(Self::of(path, target, gap, on_failure))
    }

    /// Returns a file whose name the program made up: the thread creates it with the first text, in place of what has the
    /// name. A link is replaced, and never followed.
    pub(crate) fn replaced(path: &Path, gap: fn(u64) -> String, on_failure: fn(&str)) -> Self {
        let target = Target::Path(path.to_owned(), replace);
        Self::of(&path.to_string_lossy(), target, gap, on_failure)
    }

    fn of(name: &str, target: Target, gap: fn(u64) -> String, on_failure: fn(&str)) -> Self {
        Self {
            name: name.to_owned(),
            gap,
            dropped: AtomicU64::new(0),
            output: Mutex::new(Output {
                target,
                is_cut: false,
                has_failed: false,
                untold: 0,
            }),
            on_failure,
        }
    }

    /// Writes a text, after the line of `gap` if lines are missing before it, and returns how many lines of it failed.
    fn write(&self, text: Option<&str>) -> u64 {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let mut written = String::new();
        if output.is_cut {
            written.push('\n');
        }
        let mut untold = output.untold;
        if text.is_none() {
            untold += self.dropped.swap(0, Ordering::Relaxed);
        }
        if untold > 0 {
            written.push_str(&(self.gap)(untold));
        }
        written.push_str(text.unwrap_or_default());
        let Err(error) = output.target.write(&written) else {
            (output.is_cut, output.untold) = (false, 0);
            return 0;
        };
        let failed = text.map_or(0, lines);
        (output.is_cut, output.untold) = (true, untold + failed);
        if !std::mem::replace(&mut output.has_failed, true) {
            (self.on_failure)(&format!("cannot write {}: {error}", self.name));
        }
        failed
    }
}

/// Returns how many lines a text has.
fn lines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

impl Target {
    fn write(&mut self, lines: &str) -> io::Result<()> {
        if let Self::Path(path, open) = self {
            *self = Self::Open(Box::new(open(path)?));
        }
        match self {
            Self::Open(file) => file.write_all(lines.as_bytes()).and_then(|()| file.flush()),
            Self::Path(..) => Ok(()),
        }
    }
}

/// Returns how records and loss logs are opened: new ones are readable by their owner only, and each text goes to the end, also of
/// a file that a program for rotation has emptied.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create(path: &Path) -> io::Result<File> {
    let file = options().create(true).open(path)?;
    // Pipes and devices have no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

fn replace(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options().create_new(true).open(path),
    }
}

/// Returns whether a path is a named pipe, which waits for a reader when it is opened.
fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
