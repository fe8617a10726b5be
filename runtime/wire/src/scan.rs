//! The JSON grammar over bytes: where a blank, a string, a number or a whole value ends.
//!
//! Nothing here recurses or allocates, except for the fault of a text that is not JSON.

use crate::fault::{Fault, FaultCause};

/// The deepest nesting of objects and arrays that is read, typed and opaque ones together.
pub const MAX_DEPTH: u32 = 128;

/// Returns the byte at `at`, or 0, which begins no JSON token, past the end.
#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) -> u8 {
    match bytes.get(at) {
        Some(&byte) => byte,
        None => 0,
    }
}

/// Returns the first position from `at` that holds no blank.
#[inline(always)]
pub(crate) fn blank_end(bytes: &[u8], at: usize) -> usize {
    if byte(bytes, at) > b' ' {
        at
    } else {
        blanks_end(bytes, at)
    }
}

fn blanks_end(bytes: &[u8], mut at: usize) -> usize {
    while matches!(byte(bytes, at), b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    at
}

/// Returns whether two names are equal, without a call for the usual lengths.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // Two words that overlap cover what is between one and two words long.
    if let (Some(head), Some(tail)) = (a.first_chunk::<8>(), a.last_chunk::<8>()) {
        return b.first_chunk() == Some(head)
            && b.last_chunk() == Some(tail)
            && (a.len() <= 16 || a == b);
    }
    if let (Some(head), Some(tail)) = (a.first_chunk::<4>(), a.last_chunk::<4>()) {
        return b.first_chunk() == Some(head) && b.last_chunk() == Some(tail);
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// Returns the index of `value` among `choices`.
#[inline(always)]
pub(crate) fn index_of(choices: &[&str], value: &str) -> Option<usize> {
    choices
        .iter()
        .position(|choice| same(choice.as_bytes(), value.as_bytes()))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns whether a byte ends a plain stretch of a string: quote, backslash or control character.
#[inline(always)]
fn stops(byte: u8) -> bool {
    // Without a branch: only so does a loop over many bytes become vector code.
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Returns a word whose lowest set bit lies in the first byte of `word` (little-endian) that stops, or 0.
#[inline(always)]
fn stops_in_word(word: u64) -> u64 {
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let control = word.wrapping_sub(ONES * 0x20);
    (quote | slash | control) & !word & HIGHS
}

/// As [`stops_in_word`], for a block, by vector code.
#[inline(always)]
fn stops_in_block(block: &[u8; BLOCK]) -> u128 {
    let mut stopped = [0; BLOCK];
    for (mark, &byte) in stopped.iter_mut().zip(block) {
        *mark = if stops(byte) { u8::MAX } else { 0 };
    }
    u128::from_le_bytes(stopped)
}

const BLOCK: usize = 16;

/// How many bytes are looked at together, once a string has proved to be long.
const CHUNK: usize = 64;

/// Returns the first position from `at` that holds a quote, a backslash or a control character, or the end.
#[inline(always)]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) else {
            return last_plain_end(bytes, at);
        };
        let found = stops_in_word(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    long_plain_end(bytes, at)
}

/// As [`plain_end`], for what did not end within a few words.
#[inline(never)]
fn long_plain_end(bytes: &[u8], mut at: usize) -> usize {
    let long = at + 3 * BLOCK;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = stops_in_block(block);
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += BLOCK;
        if at == long {
            at = chunks_end(bytes, at);
        }
    }
    last_plain_end(bytes, at)
}

/// Returns the first position, in whole chunks from `at`, whose chunk is not plain to its end.
#[inline(always)]
fn chunks_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<CHUNK>)
        && !chunk.iter().fold(false, |found, &byte| found | stops(byte))
    {
        at += CHUNK;
    }
    at
}

/// As [`plain_end`], close to the end of the text.
#[inline(never)]
fn last_plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        if stops(byte) {
            break;
        }
        at += 1;
    }
    at
}

/// Returns the position after the closing quote of the string whose contents start at `at`.
#[inline(always)]
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let end = plain_end(bytes, at);
    if byte(bytes, end) == b'"' {
        Ok(end + 1)
    } else {
        escaped_string_end(bytes, end, |_| {})
    }
}

/// As [`string_end`], from the first byte that is not plain and not the closing quote; `see` gets the start of each escape.
#[inline(never)]
pub(crate) fn escaped_string_end(
    bytes: &[u8],
    mut at: usize,
    mut see: impl FnMut(usize),
) -> Result<usize, Fault> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                see(at);
                at = escape_end(bytes, at)?;
            }
            Some(_) => {
                return Err(Fault::new(
                    at,
                    FaultCause::Syntax("no control character in a string"),
                ));
            }
            None => {
                return Err(Fault::new(
                    at,
                    FaultCause::Syntax("the closing `\"` of a string"),
                ));
            }
        }
        at = plain_end(bytes, at);
    }
}

/// Returns the position after the escape whose backslash is at `at`.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match byte(bytes, at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
        b'u' => {
            for digit in at + 2..at + 6 {
                if !byte(bytes, digit).is_ascii_hexdigit() {
                    return Err(Fault::new(
                        digit,
                        FaultCause::Syntax("four hexadecimal digits"),
                    ));
                }
            }
            Ok(at + 6)
        }
        _ => Err(Fault::new(
            at + 1,
            FaultCause::Syntax("an escape after `\\`"),
        )),
    }
}

/// Returns the position after the number that starts at `at`.
pub(crate) fn number_end(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    if byte(bytes, at) == b'-' {
        at += 1;
    }
    at = match byte(bytes, at) {
        b'0' => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if byte(bytes, at) == b'.' {
        at = digits_end(bytes, at + 1)?;
    }
    if matches!(byte(bytes, at), b'e' | b'E') {
        at += 1;
        if matches!(byte(bytes, at), b'+' | b'-') {
            at += 1;
        }
        at = digits_end(bytes, at)?;
    }
    if byte(bytes, at).is_ascii_digit() {
        return Err(Fault::new(
            at,
            FaultCause::Syntax("no digit after a leading `0`"),
        ));
    }
    Ok(at)
}

fn digits_end(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == start {
        return Err(Fault::new(at, FaultCause::Syntax("a digit")));
    }
    Ok(at)
}

/// Returns the position after the word `true`, `false` or `null`, which must stand at `at`.
#[inline]
pub(crate) fn literal_end(bytes: &[u8], at: usize, word: &'static str) -> Result<usize, Fault> {
    let end = at + word.len();
    if bytes.get(at..end) == Some(word.as_bytes()) {
        return Ok(end);
    }
    Err(Fault::new(at, FaultCause::Syntax("a JSON value")))
}

/// Returns the position after the colon of the member whose key must start at `at`.
#[inline(always)]
fn key_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    if byte(bytes, at) != b'"' {
        return Err(Fault::new(
            at,
            FaultCause::Syntax("a member name in quotes"),
        ));
    }
    let end = blank_end(bytes, string_end(bytes, at + 1)?);
    if byte(bytes, end) != b':' {
        return Err(Fault::new(end, FaultCause::Syntax("`:`")));
    }
    Ok(end + 1)
}

/// Returns the position after the value that starts at `at`, which may not be blank.
///
/// `depth` containers are open around it.
/// Which containers are open inside it is kept in the bits of one word: 1 for an object.
pub(crate) fn value_end(bytes: &[u8], mut at: usize, depth: u32) -> Result<usize, Fault> {
    let room = MAX_DEPTH.saturating_sub(depth);
    let mut level = 0;
    let mut objects = 0_u128;
    loop {
        match byte(bytes, at) {
            b'"' => at = string_end(bytes, at + 1)?,
            open @ (b'{' | b'[') => {
                if level >= room {
                    return Err(Fault::new(at, FaultCause::Depth));
                }
                let is_object = open == b'{';
                let inner = blank_end(bytes, at + 1);
                if byte(bytes, inner) != open + 2 {
                    level += 1;
                    objects = objects << 1 | u128::from(is_object);
                    at = if is_object {
                        blank_end(bytes, key_end(bytes, inner)?)
                    } else {
                        inner
                    };
                    continue;
                }
                at = inner + 1;
            }
            b'-' | b'0'..=b'9' => at = number_end(bytes, at)?,
            b't' => at = literal_end(bytes, at, "true")?,
            b'f' => at = literal_end(bytes, at, "false")?,
            b'n' => at = literal_end(bytes, at, "null")?,
            _ => return Err(Fault::new(at, FaultCause::Syntax("a JSON value"))),
        }
        loop {
            if level == 0 {
                return Ok(at);
            }
            let in_object = objects & 1 == 1;
            at = blank_end(bytes, at);
            match byte(bytes, at) {
                b',' => {
                    at = blank_end(bytes, at + 1);
                    if in_object {
                        at = blank_end(bytes, key_end(bytes, at)?);
                    }
                    break;
                }
                b'}' if in_object => {}
                b']' if !in_object => {}
                _ => return Err(Fault::new(at, unended(in_object))),
            }
            at += 1;
            level -= 1;
            objects >>= 1;
        }
    }
}

/// Returns the fault of a container that neither goes on nor ends.
pub(crate) fn unended(in_object: bool) -> FaultCause {
    FaultCause::Syntax(if in_object {
        "`,` or `}`"
    } else {
        "`,` or `]`"
    })
}
