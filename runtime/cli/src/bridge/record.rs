//! Where the traffic with servers is recorded: the first connection in the file that was named, others beside it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use mcp_wire::Direction;

use crate::tap::now;
use crate::transcript::line;

/// The files of a record.
pub(super) struct Record {
    file: PathBuf,
    first: Mutex<Option<File>>,
    others: AtomicUsize,
}

impl Record {
    /// Creates the first file.
    pub(super) fn new(file: &str) -> anyhow::Result<Self> {
        let first = File::create(file).with_context(|| format!("cannot write {file}"))?;
        Ok(Self {
            file: file.into(),
            first: Mutex::new(Some(first)),
            others: AtomicUsize::new(1),
        })
    }

    /// Returns what records one more connection.
    pub(super) fn tap(&self) -> io::Result<impl FnMut(Direction, &str) + Send + use<>> {
        let mut file = self.next()?;
        Ok(move |direction, text: &str| {
            // A record that cannot be written stops no message.
            let _ = file.write_all(line::write(direction, now(), text).as_bytes());
        })
    }

    fn next(&self) -> io::Result<File> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = first.take() {
            return Ok(first);
        }
        let number = self.others.fetch_add(1, Ordering::Relaxed) + 1;
        let end = match self.file.extension() {
            Some(extension) => format!("{number}.{}", extension.to_string_lossy()),
            None => number.to_string(),
        };
        let file = self.file.with_extension(end);
        File::create(&file).map_err(|why| {
            io::Error::new(
                why.kind(),
                format!("cannot write {}: {why}", file.display()),
            )
        })
    }
}
