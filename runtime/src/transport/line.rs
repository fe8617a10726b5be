//! Reading one line, of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Reads a line without its end; one that is longer than the limit is cut just behind it, so that it is refused as too long.
pub(super) async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    bytes: &mut Vec<u8>,
    limit: usize,
) -> io::Result<bool> {
    bytes.clear();
    loop {
        let chunk = input.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(!bytes.is_empty());
        }
        let end = memchr::memchr(b'\n', chunk);
        let (taken, used) = match end {
            Some(end) => (end, end + 1),
            None => (chunk.len(), chunk.len()),
        };
        let room = limit.saturating_add(1).saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..taken.min(room)).unwrap_or_default());
        input.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}
