//! Changes of an input: of its bytes, of its lines, and of the JSON that a line has.

use mcp_tests::random::Random;
use serde_json::Value;

/// Values that readers have tripped over, or may.
const ODD: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "1e3",
    "1e400",
    "9007199254740993",
    "-9223372036854775809",
    "18446744073709551616",
    "\"\"",
    "\"1\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\u202e\"",
    "[]",
    "[null]",
    "[[]]",
    "{}",
    "{\"\":null}",
    "[{}]",
    "\"2024-11-05\"",
    "\"2025-06-18\"",
    "\"2026-07-28\"",
    "\"DRAFT\"",
    "\"complete\"",
    "\"input_required\"",
    "\"task\"",
    "\"text\"",
    "\"https://[::1]:0/\"",
    "\"data:,\"",
];

/// Bytes that mean something to one reader or another.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\"",
    b"\\",
    b"\\u",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"data: ",
    b"data:",
    b"event: message\n",
    b"id: 1\n",
    b"retry: 0\n",
    b"\n\n",
    b"Bearer ",
    b"=\"",
    b"; ",
    b"%",
    b"%00",
    b"\xe2\x80\xae",
];

/// Returns an input of the corpus with some changes; sometimes with none, so that each is run as it is.
pub fn mutate(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut input = random.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..random.below(6) {
        match random.below(10) {
            0..5 => change_json(random, &mut input, corpus),
            5..7 => change_lines(random, &mut input, corpus),
            _ => change_bytes(random, &mut input),
        }
    }
    input
}

/// Changes some bytes, wherever they stand.
fn change_bytes(random: &mut Random, input: &mut Vec<u8>) {
    let at = random.below(input.len() + 1);
    match random.below(5) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.bits().to_le_bytes()[0];
            }
        }
        1 => {
            let piece = random.pick(PIECES).copied().unwrap_or_default();
            input.splice(at..at, piece.iter().copied());
        }
        2 => input.truncate(at),
        3 => {
            let end = (at + 1 + random.below(8)).min(input.len());
            input.drain(at.min(end)..end);
        }
        _ => {
            let end = (at + 1 + random.below(40)).min(input.len());
            let piece = input[at.min(end)..end].to_vec();
            let times = 1 + random.below(3);
            for _ in 0..times {
                input.splice(at..at, piece.iter().copied());
            }
        }
    }
}

/// Repeats, removes, swaps or takes over a line.
fn change_lines(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let mut lines = split(input);
    let at = random.below(lines.len());
    match random.below(4) {
        0 => lines.insert(at, lines.get(at).cloned().unwrap_or_default()),
        1 if lines.len() > 1 => {
            lines.remove(at);
        }
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        _ => {
            let other = split(random.pick(corpus).map_or(&[], Vec::as_slice));
            lines.insert(at, random.pick(&other).cloned().unwrap_or_default());
        }
    }
    *input = lines.join(&b'\n');
}

fn split(input: &[u8]) -> Vec<Vec<u8>> {
    input
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

/// Changes one value in the JSON of a line, if it has JSON at all.
fn change_json(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let mut lines = split(input);
    let at = random.below(lines.len());
    // JSON begins at the first brace: a line may have words before it.
    let Some(begin) = lines[at]
        .iter()
        .position(|byte| matches!(byte, b'{' | b'['))
    else {
        return change_bytes(random, input);
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at][begin..]) else {
        return change_bytes(random, input);
    };
    let mut places = 0;
    visit(&mut value, &mut |_| places += 1);
    let place = random.below(places);
    let other = donor(random, corpus);
    let mut text = None;
    let mut index = 0;
    visit(&mut value, &mut |value| {
        if index == place {
            text = change_value(random, value, &other);
        }
        index += 1;
    });
    let mut line = lines[at][..begin].to_vec();
    let mut written = value.to_string();
    // What serde_json cannot hold goes in as text: a member twice, a number of any size, half of a surrogate pair.
    if let Some((placeholder, odd)) = text {
        written = written.replacen(&placeholder, &odd, 1);
    }
    line.extend(written.bytes());
    lines[at] = line;
    *input = lines.join(&b'\n');
}

/// Changes a value. Returns a placeholder that stands in it, and the text that belongs there.
fn change_value(random: &mut Random, value: &mut Value, other: &Value) -> Option<(String, String)> {
    let hole = "\u{1}hole";
    let placeholder = Value::from(hole).to_string();
    match (random.below(8), &mut *value) {
        (0, Value::Object(members)) => {
            let name = members.keys().nth(random.below(members.len())).cloned();
            members.remove(&name.unwrap_or_default());
            None
        }
        (1, Value::Object(members)) => {
            let name = members
                .keys()
                .nth(random.below(members.len()))
                .cloned()
                .unwrap_or_default();
            let taken = members.remove(&name).unwrap_or_default();
            members.insert(hole.to_owned(), taken.clone());
            // The member a second time.
            let name = Value::from(name);
            Some((placeholder, format!("{name}:{taken},{name}")))
        }
        (0 | 1, Value::Array(elements)) if !elements.is_empty() => {
            let at = random.below(elements.len());
            let element = elements.remove(at);
            if random.once_in(2) {
                elements.extend(std::iter::repeat_n(element, 2));
            }
            None
        }
        (2, value) => {
            *value = Value::Array(vec![value.take()]);
            None
        }
        (3, value) => {
            *value = other.clone();
            None
        }
        (4, Value::String(text)) => {
            *text = match random.below(4) {
                0 => text.to_uppercase(),
                1 => format!("{text}{text}"),
                2 => text.chars().take(random.below(text.len() + 1)).collect(),
                _ => format!("\u{202e}{text}\u{0}"),
            };
            None
        }
        (5, value) if random.once_in(4) => {
            let depth = 1 + random.below(140);
            *value = Value::from(hole);
            Some((
                placeholder,
                format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
            ))
        }
        (_, value) => {
            *value = Value::from(hole);
            Some((
                placeholder,
                (*random.pick(ODD).unwrap_or(&"null")).to_owned(),
            ))
        }
    }
}

/// Returns a value from anywhere in the corpus.
fn donor(random: &mut Random, corpus: &[Vec<u8>]) -> Value {
    let input = random.pick(corpus).map_or(&[][..], Vec::as_slice);
    let lines = split(input);
    let line = random.pick(&lines).map_or(&[][..], Vec::as_slice);
    let begin = line
        .iter()
        .position(|byte| *byte == b'{')
        .unwrap_or(line.len());
    let mut value: Value = serde_json::from_slice(&line[begin..]).unwrap_or_default();
    let mut places = 0;
    visit(&mut value, &mut |_| places += 1);
    let (place, mut index, mut chosen) = (random.below(places), 0, Value::Null);
    visit(&mut value, &mut |value| {
        if index == place {
            chosen = value.clone();
        }
        index += 1;
    });
    chosen
}

/// Calls `each` for a value and all that is in it, the outermost first.
fn visit(value: &mut Value, each: &mut dyn FnMut(&mut Value)) {
    each(value);
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| visit(element, each)),
        Value::Object(members) => members.values_mut().for_each(|member| visit(member, each)),
        _ => {}
    }
}
