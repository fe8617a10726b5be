//! Reading one line, of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Number of bytes kept of the end of a line that is too long: many write the id of a message last.
const TAIL: usize = 256;

/// Reads a line without its end; one that is longer than the limit is refused as too long, and of it only the beginning
/// and the end are kept: one byte more than the limit.
pub(crate) async fn read_line(
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
        let (used, is_whole) = add_line(chunk, bytes, limit);
        input.consume(used);
        if is_whole {
            return Ok(true);
        }
    }
}

/// Adds what a chunk has of a line, as [`read_line`] does. Returns how much of the chunk that is, its line end included, and
/// whether the line ends there.
pub(super) fn add_line(chunk: &[u8], bytes: &mut Vec<u8>, limit: usize) -> (usize, bool) {
    let end = memchr::memchr(b'\n', chunk);
    let taken = end.unwrap_or(chunk.len());
    bytes.extend_from_slice(chunk.get(..taken).unwrap_or_default());
    let most = limit.saturating_add(1);
    if let Some(over) = bytes.len().checked_sub(most).filter(|over| *over > 0) {
        let kept = most - TAIL.min(most / 2);
        bytes.drain(kept..kept + over);
    }
    (taken + usize::from(end.is_some()), end.is_some())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[tokio::test]
    async fn of_a_line_that_is_too_long_the_beginning_and_the_end_are_kept() {
        let text = format!("short\n{}\nlast", "0123456789".repeat(1_000));
        for (capacity, limit) in [(1, 99), (7, 999), (4_096, 99), (20_000, 999), (64, 9_999)] {
            let mut input = tokio::io::BufReader::with_capacity(capacity, text.as_bytes());
            let mut lines = Vec::new();
            let mut bytes = Vec::new();
            while read_line(&mut input, &mut bytes, limit).await.unwrap() {
                lines.push(String::from_utf8(bytes.clone()).unwrap());
            }
            assert_eq!((lines[0].as_str(), lines[2].as_str()), ("short", "last"));
            let long = &lines[1];
            assert_eq!(long.len(), limit + 1, "one more than is taken");
            assert!(long.starts_with("0123456789") && long.ends_with("0123456789"));
        }
    }
}
