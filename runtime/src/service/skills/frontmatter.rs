//! The YAML at the start of a `SKILL.md`, as the JSON object that an entry has.

use serde_json::{Map, Value};

use super::yaml;

/// The line before and after the YAML.
const FENCE: &str = "---";
/// Maximum number of bytes of the YAML.
const YAML_BYTES: usize = 64 << 10;

/// Returns the frontmatter of a file. Returns the fault of the text: no fences, no valid YAML, a value that JSON does not have,
/// no name or no description.
pub(in crate::service) fn frontmatter_of(text: &str) -> Result<Map<String, Value>, String> {
    let Value::Object(fields) = yaml::read(between_fences(text)?)? else {
        return Err(
            "the YAML at its start is not a mapping: expected `name:` and `description:`"
                .to_owned(),
        );
    };
    for field in ["name", "description"] {
        match fields.get(field) {
            Some(Value::String(text)) if !text.is_empty() => {}
            Some(Value::String(_)) => {
                return Err(format!("`{field}` in the YAML at its start is empty"));
            }
            Some(_) => {
                return Err(format!(
                    "`{field}` in the YAML at its start is not a text: write it in quotes"
                ));
            }
            None => return Err(format!("the YAML at its start has no `{field}`: add it")),
        }
    }
    Ok(fields)
}

/// Returns the text between the two fences, of which the first one is the first line.
fn between_fences(file: &str) -> Result<&str, String> {
    let text = file.strip_prefix('\u{feff}').unwrap_or(file);
    let mut lines = text.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Err(
            "it does not begin with YAML: the first line is expected to be `---`".to_owned(),
        );
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            return Ok(text.get(first.len()..end).unwrap_or_default());
        }
        end += line.len();
        if end > YAML_BYTES {
            return Err(format!(
                "the YAML at its start has more than {YAML_BYTES} bytes"
            ));
        }
    }
    Err("the YAML at its start has no end: a line `---` is expected after it".to_owned())
}
