//! One line of a transcript: which way a message went, when, and its text.

use std::borrow::Cow;

use mcp_wire::{Direction, Json, JsonObject};
use serde_json::json;

/// A line that tells of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TranscriptLine<'a> {
    /// The sender.
    pub(crate) direction: Direction,
    /// When, in milliseconds since 1970, where the line says so.
    pub(crate) at: Option<u64>,
    /// The message.
    pub(crate) text: Cow<'a, str>,
}

/// Returns the mark of a direction, at the begin of a line or in its `dir`.
pub(crate) const fn mark(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => ">",
        Direction::ServerToClient => "<",
    }
}

/// Returns the direction of a word in the records of other programs.
fn direction(word: &str) -> Option<Direction> {
    match word.to_ascii_lowercase().as_str() {
        ">" | "c2s" | "client" | "client-to-server" => Some(Direction::ClientToServer),
        "<" | "s2c" | "server" | "server-to-client" => Some(Direction::ServerToClient),
        _ => None,
    }
}

/// Writes a line of our own: a message as it is, and anything else as a text.
pub(crate) fn write(way: Direction, at: u64, text: &str) -> String {
    let dir = json!(mark(way));
    let (name, value) = match Json::from_text(text) {
        // A line ends where it ends, whatever a message has between its members.
        Ok(_) if !text.contains(['\n', '\r']) => ("message", text.to_owned()),
        _ => ("text", json!(text).to_string()),
    };
    format!("{{\"dir\":{dir},\"at\":{at},\"{name}\":{value}}}\n")
}

/// The beginning of a line that stands for missing messages.
const GAP: &str = "# missing messages: ";

/// Writes the line that stands where this many messages are missing.
pub(crate) fn write_gap(count: u64) -> String {
    format!("{GAP}{count}, which could not be written in time\n")
}

/// Returns the text of a line about missing messages; `None` for every other line.
pub(super) fn read_gap(line: &str) -> Option<&str> {
    let count = line.trim().strip_prefix(GAP)?;
    Some(count.split(',').next().unwrap_or(count))
}

/// Reads a line: ours, or a message after `>` or `<`. Returns `None` if it is empty or a comment. Returns an error, in words,
/// for a line that is neither.
pub(crate) fn read(line: &str) -> Result<Option<TranscriptLine<'_>>, String> {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.starts_with('#') {
        return Ok(None);
    }
    let (first, rest) = trimmed.split_at(
        trimmed
            .find(|letter| letter != '<' && letter != '>')
            .unwrap_or(trimmed.len()),
    );
    if let Some(direction) = direction(first) {
        return Ok(Some(TranscriptLine {
            direction,
            at: None,
            text: Cow::Borrowed(rest.trim_start()),
        }));
    }
    let members = JsonObject::from_text(trimmed).map_err(|error| {
        format!("a line is `> MESSAGE`, `< MESSAGE` or an object with `dir` and `message`: {error}")
    })?;
    let word = |name: &str| {
        let value = Json::from_text(members.get(name)?.text()).ok()?;
        value.as_str().map(Cow::into_owned)
    };
    let named = word("dir").or_else(|| word("direction"));
    let Some(named) = named else {
        return Err("it has no `dir`: `>` from the client, `<` from the server".to_owned());
    };
    let direction = direction(&named)
        .ok_or_else(|| format!("`dir` is `>`, `<`, c2s, s2c, client or server, not `{named}`"))?;
    let at = members.get("at").and_then(|at| at.text().parse().ok());
    let text = match members.get("message").or_else(|| members.get("msg")) {
        Some(message) => message.text().to_owned(),
        None => word("text").ok_or("it has neither `message` nor `text`")?,
    };
    Ok(Some(TranscriptLine {
        direction,
        at,
        text: Cow::Owned(text),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ours_comes_back_as_it_was() {
        let up = Direction::ClientToServer;
        for text in [r#"{"a":1.0, "b":"\u0041"}"#, "hello", "{\"a\":\n1}", ""] {
            let line = write(up, 7, text);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            let read = read(&line).ok().flatten();
            let read = read.map(|line| (line.direction, line.at, line.text.into_owned()));
            assert_eq!(read, Some((up, Some(7), text.to_owned())));
        }
    }

    #[test]
    fn lines_of_other_hands_are_read() {
        for (line, direction) in [
            (r#"> {"a":1}"#, Direction::ClientToServer),
            (r#"<{"a":1}"#, Direction::ServerToClient),
            (r#"{"dir":"s2c","msg":{"a":1}}"#, Direction::ServerToClient),
            (
                r#"{"direction":"client","message":{"a":1}}"#,
                Direction::ClientToServer,
            ),
        ] {
            let read = read(line).ok().flatten();
            let read = read.map(|line| (line.direction, line.text.into_owned()));
            assert_eq!(read, Some((direction, r#"{"a":1}"#.to_owned())), "{line}");
        }
        assert_eq!(read("# a word\n"), Ok(None));
        for wrong in [
            "hello",
            "{}",
            r#"{"dir":"up","message":1}"#,
            r#"{"dir":">"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
