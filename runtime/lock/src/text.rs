//! The canonical text of JSON: members in order, one fact per line, and no character that a reviewer cannot see.

use std::fmt::Write as _;

use mcp_wire::hides;
use serde_json::Value;

/// Returns a value as text: members sorted by name, two spaces per level, a line break at the end. A character that shows
/// nothing is written as its escape.
#[must_use]
pub fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

/// As deep as the value is nested, which its reader limits.
fn write(value: &Value, level: usize, text: &mut String) {
    let line = |level: usize, text: &mut String| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                line(level + 1, text);
                write_string(name, text);
                text.push_str(": ");
                write(member, level + 1, text);
            }
            line(level, text);
            text.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                text.push(if index == 0 { '[' } else { ',' });
                line(level + 1, text);
                write(item, level + 1, text);
            }
            line(level, text);
            text.push(']');
        }
        Value::String(string) => write_string(string, text),
        plain => _ = write!(text, "{plain}"),
    }
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for letter in string.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            hidden if hidden.is_control() || hides(hidden) => {
                for unit in hidden.encode_utf16(&mut [0; 2]) {
                    _ = write!(text, "\\u{unit:04x}");
                }
            }
            plain => text.push(plain),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_sorted_and_shows_every_character() {
        let value = json!({ "b": [1, {}, []], "a": "x\u{200b}\u{202e}\u{e0041}\u{1b}\n\"é\"", "\u{feff}": null });
        let text = canonical_text(&value);
        assert_eq!(
            text,
            "{\n  \"a\": \"x\\u200b\\u202e\\udb40\\udc41\\u001b\\n\\\"é\\\"\",\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"\\ufeff\": null\n}\n"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
    }
}
