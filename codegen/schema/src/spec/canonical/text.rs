//! JSON as text that diffs well: the same value is the same bytes, and a small change is a small diff.

use serde_json::Value;

use super::sorted;

/// Writes a canonical schema, or any JSON: two spaces, keys sorted, lists of scalars on one line, a final newline.
#[must_use]
pub fn to_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, indent: usize, out: &mut String) {
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", indent));
    };
    match value {
        Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                line(out, indent + 1);
                write(item, indent + 1, out);
            }
            line(out, indent);
            out.push(']');
        }
        Value::Array(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(&item.to_string());
            }
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            out.push('{');
            for (index, (key, member)) in sorted(map).into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                line(out, indent + 1);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                write(member, indent + 1, out);
            }
            line(out, indent);
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
