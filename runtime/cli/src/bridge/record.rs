//! Records of the traffic with servers: the first connection in the file that was named, others beside it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use mcp_revisions::service::lock;
use mcp_wire::Direction;

use crate::background::{Background, Destination};
use crate::tap::{RECORD_WAITING, now};
use crate::transcript::line;

/// The files of a record, which one thread writes; clones are the same record.
#[derive(Clone)]
pub(super) struct TrafficRecord(Arc<SharedRecord>);

struct SharedRecord {
    thread: Background,
    path: PathBuf,
    first: Mutex<Option<Arc<Destination>>>,
    connections: AtomicUsize,
}

impl TrafficRecord {
    /// Creates the first file.
    pub(super) fn new(file: &str) -> anyhow::Result<Self> {
        let first = Destination::file(file, line::write_gap, report_failure)
            .with_context(|| format!("cannot write {file}"))?;
        let thread = Background::start(RECORD_WAITING).context("cannot start a thread")?;
        Ok(Self(Arc::new(SharedRecord {
            thread,
            path: file.into(),
            first: Mutex::new(Some(Arc::new(first))),
            connections: AtomicUsize::new(1),
        })))
    }

    /// Returns the function that records one more connection.
    pub(super) fn tap(&self) -> impl FnMut(Direction, &str) + Send + use<> {
        let (Self(shared), file) = (self.clone(), self.next());
        move |direction, text: &str| {
            (shared.thread).write(&file, line::write(direction, now(), text));
        }
    }

    /// Waits until the messages are written, or until `deadline`, and returns how many are not.
    pub(super) fn finish(&self, deadline: Instant) -> u64 {
        self.0.thread.flush(deadline)
    }

    fn next(&self) -> Arc<Destination> {
        let SharedRecord {
            path,
            first,
            connections,
            ..
        } = &*self.0;
        let free = lock(first).take();
        free.unwrap_or_else(|| {
            let number = connections.fetch_add(1, Ordering::Relaxed) + 1;
            let end = match path.extension() {
                Some(extension) => format!("{number}.{}", extension.to_string_lossy()),
                None => number.to_string(),
            };
            let numbered = path.with_extension(end);
            Arc::new(Destination::replaced(
                &numbered,
                line::write_gap,
                report_failure,
            ))
        })
    }
}

/// Logs the first failed write of a file.
fn report_failure(why: &str) {
    tracing::error!("the record has gaps: {why}");
}
