//! Texts as TOML spells them, in stubs and rows.

/// Returns a string as a value or a key, on one line.
pub fn quoted(text: &str) -> String {
    // The escapes of JSON are escapes of TOML, which wants one more of them.
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

/// Returns a key as it stands in a header.
pub fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.bytes().all(bare) && !name.is_empty() {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Returns the text of a JSON value as a value.
pub fn json(text: &str) -> String {
    if text.contains("'''") || text.contains('\u{7f}') {
        quoted(text)
    } else {
        format!("'''{text}'''")
    }
}

/// Returns texts as the value of a key: one by itself, several as a list.
pub fn one_or_many(texts: &[&str]) -> String {
    match texts {
        [one] => quoted(one),
        many => {
            let lines = many.iter().map(|one| format!("  {},\n", quoted(one)));
            format!("[\n{}]", lines.collect::<String>())
        }
    }
}
