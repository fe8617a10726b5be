//! JSON as text that diffs well: the same value is the same bytes, and a small change is a small diff.

use serde_json::Value;

use super::sorted;

/// Writes a canonical schema, or any JSON: two spaces, keys sorted, lists of scalars on one line, a final newline.
pub fn to_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, "\n", &mut text);
    text.push('\n');
    text
}

/// `line` is a line break with the indentation of the value.
fn write(value: &Value, line: &str, out: &mut String) {
    let inner = format!("{line}  ");
    match value {
        Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index == 0 { "[" } else { "," });
                out.push_str(&inner);
                write(item, &inner, out);
            }
            out.push_str(&format!("{line}]"));
        }
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(Value::to_string).collect();
            out.push_str(&format!("[{}]", items.join(", ")));
        }
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, member)) in sorted(map).into_iter().enumerate() {
                let open = if index == 0 { "{" } else { "," };
                out.push_str(&format!("{open}{inner}{}: ", Value::from(key.as_str())));
                write(member, &inner, out);
            }
            out.push_str(&format!("{line}}}"));
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
