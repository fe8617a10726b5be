//! Characters of a text that a reader does not see, and a model does.

use mcp_wire::hides;
use serde_json::Value;

/// Returns a text with the escape of each character that it hides; `None` if it hides none. A joiner or selector behind a
/// visible letter that is not ASCII hides nothing: emoji and scripts have them.
#[must_use]
pub fn revealed(text: &str) -> Option<String> {
    let is_plain = |letter: char| matches!(letter, '\n' | '\r' | '\t');
    if !text
        .chars()
        .any(|letter| hides(letter) || letter.is_control() && !is_plain(letter))
    {
        return None;
    }
    let (mut shown, mut is_hidden, mut before) = (String::with_capacity(text.len()), false, ' ');
    for letter in text.chars() {
        let joins = matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        let is_joined = joins && !before.is_ascii() && !hides(before);
        if !is_joined && (hides(letter) || letter.is_control() && !is_plain(letter)) {
            shown.extend(letter.escape_default());
            is_hidden = true;
        } else {
            shown.push(letter);
        }
        before = letter;
    }
    is_hidden.then_some(shown)
}

/// Maximum number of texts that are named of one value.
const NAMED: usize = 100;

/// Returns the first 100 texts of a value that hide characters, names of members included: the members on the way to each, and
/// the text with escapes.
#[must_use]
pub fn hidden_texts(value: &Value) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut found);
    found.truncate(NAMED);
    found
}

/// As deep as the value is nested, which its reader limits.
fn collect(value: &Value, way: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    if found.len() >= NAMED {
        return;
    }
    match value {
        Value::String(text) => found.extend(revealed(text).map(|shown| (way.clone(), shown))),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                way.push(index.to_string());
                collect(item, way, found);
                way.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                found.extend(revealed(name).map(|shown| (way.clone(), shown)));
                way.push(name.clone());
                collect(member, way, found);
                way.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_text_hides_is_shown_and_emoji_hide_nothing() {
        for plain in [
            "",
            "a\n\tb",
            "👩\u{200d}💻 ❤\u{fe0f}",
            "می\u{200c}خواهم",
            "é",
        ] {
            assert_eq!(revealed(plain), None, "{plain}");
        }
        for (text, shown) in [
            ("a\u{200d}b", r"a\u{200d}b"),
            ("x\u{202e}y", r"x\u{202e}y"),
            ("😀\u{e0041}", r"😀\u{e0041}"),
            ("😀\u{fe0f}\u{fe0f}", "😀\u{fe0f}\\u{fe0f}"),
            ("\u{1b}[8m", r"\u{1b}[8m"),
        ] {
            assert_eq!(revealed(text).as_deref(), Some(shown));
        }
        let found = hidden_texts(&json!({ "a": [{ "b\u{200b}": "c\u{200b}" }, 1] }));
        let way = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                (way(&["a", "0"]), r"b\u{200b}".to_owned()),
                (way(&["a", "0", "b\u{200b}"]), r"c\u{200b}".to_owned()),
            ]
        );
    }
}
