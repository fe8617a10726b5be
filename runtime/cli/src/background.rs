//! A thread that writes texts, so that the rest of the program never waits for a reader or a disk.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions::service::lock;

/// Time that the end of the program waits for texts that are still queued.
pub(crate) const FLUSH: Duration = Duration::from_secs(1);

/// Number of bytes of a queued text beside its own.
const OVERHEAD: usize = 64;

/// A thread with a bounded queue of texts; clones share it.
///
/// A text that finds no room is dropped. From then on texts are dropped until half of the queue is written; then a line of
/// [`Destination`] tells how many are missing.
#[derive(Clone)]
pub(crate) struct Background(Arc<SharedQueue>);

struct SharedQueue {
    queue: Mutex<TextQueue>,
    /// Signals a queued text to the thread, and a written one to [`Background::flush`].
    changed: Condvar,
    /// Most bytes that wait.
    limit: usize,
    /// Lines that were dropped, or whose write failed.
    missing: AtomicU64,
}

#[derive(Default)]
struct TextQueue {
    texts: VecDeque<QueuedText>,
    bytes: usize,
    /// Set while texts are dropped, until the queue is half empty.
    is_full: bool,
    /// The destinations of dropped texts.
    behind: Vec<Arc<Destination>>,
    /// Set if the thread has taken a text out and not written it yet.
    is_writing: bool,
}

struct QueuedText {
    to: Arc<Destination>,
    /// `None` for the line alone that tells how many texts are missing.
    text: Option<String>,
}

impl Background {
    /// Starts the thread, with a queue of at most `limit` bytes. Returns an error if the system starts no thread.
    pub(crate) fn start(limit: usize) -> io::Result<Self> {
        let shared = Arc::new(SharedQueue {
            queue: Mutex::default(),
            changed: Condvar::new(),
            limit,
            missing: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new().spawn(move || of_thread.write_all())?;
        Ok(Self(shared))
    }

    /// Queues a text, which has whole lines; drops it if the queue is full.
    pub(crate) fn write(&self, to: &Arc<Destination>, text: String) {
        let SharedQueue {
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
        queue.texts.push_back(QueuedText { to, text });
        changed.notify_all();
    }

    /// Waits until every text is written, or until `deadline`, and returns how many lines are not written.
    pub(crate) fn flush(&self, deadline: Instant) -> u64 {
        let left = deadline.saturating_duration_since(Instant::now());
        let is_busy = |queue: &mut TextQueue| queue.is_writing || !queue.texts.is_empty();
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

impl SharedQueue {
    fn lock(&self) -> MutexGuard<'_, TextQueue> {
        lock(&self.queue)
    }

    /// Writes texts as they come, for as long as the program runs.
    fn write_all(&self) {
        let mut queue = self.lock();
        loop {
            let Some(QueuedText { to, text }) = queue.texts.pop_front() else {
                queue = (self.changed.wait(queue)).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.is_writing = true;
            drop(queue);
            let failed = to.write(text.as_deref());
            self.missing.fetch_add(failed, Ordering::Relaxed);
            // The last writer closes its file outside of the lock.
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
                    .extend(behind.map(|to| QueuedText { to, text: None }));
            }
            self.changed.notify_all();
        }
    }
}

/// The target of texts.
pub(crate) struct Destination {
    /// The name for people: `standard error`, or a path.
    name: String,
    /// The line that stands where texts are missing, for their number.
    gap: fn(u64) -> String,
    /// Lines that found no room since the last line of `gap` was queued.
    dropped: AtomicU64,
    /// Locked by the thread only.
    output: Mutex<QueuedOutput>,
    /// The function that gets the first failure.
    on_failure: fn(&str),
}

struct QueuedOutput {
    target: Target,
    /// Set if a write failed in the middle of a line.
    is_cut: bool,
    /// Set if [`Destination::on_failure`] was called.
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
    /// the reader. `on_failure` gets the first failed write, in words. Returns an error if the file cannot be created.
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
            output: Mutex::new(QueuedOutput {
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
        let mut output = lock(&self.output);
        let mut prefix = String::new();
        if output.is_cut {
            prefix.push('\n');
        }
        let mut untold = output.untold;
        if text.is_none() {
            untold += self.dropped.swap(0, Ordering::Relaxed);
        }
        if untold > 0 {
            prefix.push_str(&(self.gap)(untold));
        }
        let body = text.unwrap_or_default();
        let bytes = if prefix.is_empty() {
            Cow::Borrowed(body.as_bytes())
        } else {
            Cow::Owned([prefix.as_bytes(), body.as_bytes()].concat())
        };
        let (count, result) = output.target.write(&bytes);
        if let Some(last) = bytes.get(..count).and_then(<[u8]>::last) {
            output.is_cut = *last != b'\n';
        }
        let Err(error) = result else {
            output.untold = 0;
            return 0;
        };
        let failed = text.map_or(0, lines);
        output.untold = untold + failed;
        if !std::mem::replace(&mut output.has_failed, true) {
            (self.on_failure)(&format!("cannot write {}: {error}", self.name));
        }
        failed
    }
}

/// Returns the number of lines of a text.
fn lines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

impl Target {
    /// Writes bytes, and returns how many of them before an error.
    fn write(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut count = 0;
        let result = self.open().and_then(|file| {
            while let Some(rest) = bytes.get(count..).filter(|rest| !rest.is_empty()) {
                match file.write(rest) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(written) => count += written,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            file.flush()
        });
        (count, result)
    }

    fn open(&mut self) -> io::Result<&mut dyn Write> {
        if let Self::Path(path, open) = self {
            *self = Self::Open(Box::new(open(path)?));
        }
        match self {
            Self::Open(file) => Ok(file),
            Self::Path(..) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Returns the options for records and loss logs: new ones are readable by their owner only, and each text goes to the end, also of
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it found and stops")]
mod tests {
    use super::*;

    /// A file that takes so many bytes at a time, whenever there are any left.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Disk {
        fn has_room_for(&self, bytes: usize) {
            self.0.lock().unwrap().1 = bytes;
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().0.clone()).unwrap()
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (text, room) = &mut *self.0.lock().unwrap();
            let taken = bytes.get(..*room).unwrap_or(bytes);
            if taken.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            text.extend_from_slice(taken);
            *room -= taken.len();
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gap(count: u64) -> String {
        format!("gap {count}\n")
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_disk_with_room_again_gets_the_number_of_missing_lines_and_whole_lines() {
        let disk = Disk::default();
        disk.has_room_for(10);
        let to = Arc::new(Destination::new("disk", disk.clone(), gap));
        let thread = Background::start(1 << 10).unwrap();
        for text in ["one\n", "two 2\n", "three\n", "four\nfour\n"] {
            thread.write(&to, text.to_owned());
        }
        // The second line fits to its last letter.
        assert_eq!(thread.flush(soon()), 3);
        assert_eq!(disk.text(), "one\ntwo 2\n");
        disk.has_room_for(100);
        thread.write(&to, "five\n".to_owned());
        assert_eq!(thread.flush(soon()), 3);
        assert_eq!(disk.text(), "one\ntwo 2\ngap 3\nfive\n");
        disk.has_room_for(2);
        thread.write(&to, "six\n".to_owned());
        assert_eq!(thread.flush(soon()), 4);
        disk.has_room_for(100);
        thread.write(&to, "seven\n".to_owned());
        thread.flush(soon());
        assert!(
            disk.text().ends_with("five\nsi\ngap 1\nseven\n"),
            "{}",
            disk.text()
        );
    }

    /// A reader that reads only once the gate is open.
    struct ReaderGate(std::sync::mpsc::Receiver<()>, Disk);

    impl Write for ReaderGate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_waits_costs_bounded_memory_and_is_told_what_it_missed() {
        let (open, gate) = std::sync::mpsc::channel();
        let disk = Disk::default();
        disk.has_room_for(usize::MAX);
        let to = Arc::new(Destination::new(
            "gate",
            ReaderGate(gate, disk.clone()),
            gap,
        ));
        let thread = Background::start(10_000).unwrap();
        for _ in 0..1_000 {
            thread.write(&to, format!("{}\n", "x".repeat(99)));
        }
        assert!(thread.0.lock().bytes <= 10_000);
        drop(open);
        let missing = thread.flush(soon());
        let text = disk.text();
        let written = text.lines().filter(|line| line.starts_with('x')).count();
        assert_eq!(written as u64 + missing, 1_000);
        assert!(text.ends_with(&gap(missing)), "{text}");
    }

    #[test]
    fn a_reader_that_never_reads_holds_the_end_up_for_a_bounded_time() {
        let (_open, gate) = std::sync::mpsc::channel();
        let to = Arc::new(Destination::new(
            "gate",
            ReaderGate(gate, Disk::default()),
            gap,
        ));
        let thread = Background::start(10_000).unwrap();
        thread.write(&to, "one\n".to_owned());
        thread.write(&to, "two\n".to_owned());
        assert_eq!(thread.flush(Instant::now() + Duration::from_millis(50)), 2);
    }
}
