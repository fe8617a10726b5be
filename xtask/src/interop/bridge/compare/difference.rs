//! What differs between two sessions, less what the revisions name differently and what the loss log names.

use serde_json::{Map, Value};

use super::ComparedSession;

/// Members that only some revisions have, and what they stand for where they are absent. They are not losses.
const ENVELOPE: [(&str, Option<&str>); 6] = [
    ("resultType", Some("complete")),
    ("ttlMs", None),
    ("cacheScope", None),
    ("mode", Some("form")),
    ("taskSupport", Some("forbidden")),
    ("io.modelcontextprotocol/serverInfo", None),
];

/// Members of the first answer that compare across lifecycles; the rest names revisions.
const INTRODUCTION: [&str; 2] = ["capabilities", "instructions"];

/// Returns a line for each difference that no loss names.
pub(super) fn faults(
    direct: &[Value],
    bridged: &ComparedSession,
    is_same_revision: bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    for step in direct {
        let name = &step["step"];
        let Some(found) = bridged.steps.iter().find(|one| one["step"] == *name) else {
            faults.push(format!("{name} did not happen"));
            continue;
        };
        if let Some(why) = found["failed"].as_str().or(step["failed"].as_str()) {
            faults.push(format!("{name}: {why}"));
            continue;
        }
        let (expected, found) = if is_same_revision && name != "connect" {
            (step.clone(), found.clone())
        } else {
            (comparable(step), comparable(found))
        };
        let mut differences = Vec::new();
        differ(&expected, &found, String::new(), &mut differences);
        for (pointer, what) in differences {
            if !is_named(&pointer, &expected, &bridged.losses) {
                faults.push(format!("{name} at {pointer}: {what}"));
            }
        }
    }
    faults
}

/// Returns whether a loss names the place, or one that contains it or lies in it.
fn is_named(pointer: &str, step: &Value, losses: &[Value]) -> bool {
    let (method, rest) = message_of(pointer, step);
    losses.iter().any(|loss| {
        let Some(named) = loss["pointer"].as_str() else {
            // A message that was not delivered.
            return loss["method"] == method;
        };
        loss["method"] == method && (is_within(&rest, named) || is_within(named, &rest))
    })
}

fn is_within(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the method of the message at a pointer into a step, and the pointer into its params, result or error.
fn message_of(pointer: &str, step: &Value) -> (Value, String) {
    let mut parts = pointer.splitn(5, '/').skip(1);
    match parts.next() {
        Some("before") => {
            let at = parts.next().unwrap_or_default();
            let method =
                step["before"][at.parse::<usize>().unwrap_or(usize::MAX)]["method"].clone();
            let rest = parts
                .nth(1)
                .map_or(String::new(), |rest| format!("/{rest}"));
            (method, rest)
        }
        first => {
            let skipped = first.unwrap_or_default().len() + 1;
            let rest = pointer.get(skipped..).unwrap_or_default();
            (step["method"].clone(), rest.to_owned())
        }
    }
}

/// Returns a step without what the revisions name differently.
fn comparable(step: &Value) -> Value {
    let mut common = step.clone();
    if common["step"] == "connect" {
        let result = common["result"].take();
        let kept = INTRODUCTION.map(|name| (name.to_owned(), result[name].clone()));
        common["result"] = Value::Object(kept.into_iter().collect());
        common["method"] = Value::from("server/discover");
    }
    without_envelope(&mut common);
    common
}

fn without_envelope(value: &mut Value) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(without_envelope),
        Value::Object(members) => {
            members.retain(|name, value| {
                let row = ENVELOPE.iter().find(|(member, _)| member == name);
                row.is_none_or(|(_, only)| only.is_some_and(|only| value != only))
            });
            members.values_mut().for_each(without_envelope);
            let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
            // They held nothing else.
            for name in ["_meta", "execution"] {
                if members.get(name).is_some_and(is_empty) {
                    members.remove(name);
                }
            }
        }
        _ => {}
    }
}

/// Adds each place at which two values differ, with both.
fn differ(expected: &Value, found: &Value, at: String, all: &mut Vec<(String, String)>) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            let names = left
                .keys()
                .chain(right.keys().filter(|name| !left.contains_key(*name)));
            for name in names {
                let inner = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => differ(left, right, inner, all),
                    (Some(left), None) => all.push((inner, format!("{} is missing", cut(left)))),
                    (None, Some(right)) => all.push((inner, format!("{} was added", cut(right)))),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differ(left, right, format!("{at}/{index}"), all);
            }
        }
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
        (left, right) if left == right => {}
        (left, right) => all.push((at, format!("{} became {}", cut(left), cut(right)))),
    }
}

fn cut(value: &Value) -> String {
    let text = value.to_string();
    let mut cut: String = text.chars().take(200).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::faults;
    use crate::interop::bridge::compare::ComparedSession;

    fn steps(result: &Value) -> Vec<Value> {
        vec![json!({ "step": "tool", "method": "tools/call", "before": [], "result": result })]
    }

    #[test]
    fn only_a_difference_that_no_loss_names_is_a_fault() {
        let direct = steps(&json!({ "content": [], "structuredContent": { "a": 1 } }));
        let bridged = |pointer: &str| ComparedSession {
            steps: steps(&json!({ "content": [], "resultType": "complete" })),
            losses: vec![json!({ "method": "tools/call", "pointer": pointer })],
        };
        let named = bridged("/structuredContent/a");
        assert_eq!(faults(&direct, &named, false), Vec::<String>::new());
        let found = faults(&direct, &bridged("/content"), false);
        let fault = r#""tool" at /result/structuredContent: {"a":1} is missing"#;
        assert_eq!(found, [fault]);
        // Between equal revisions nothing is named differently.
        assert_eq!(faults(&direct, &named, true).len(), 1);
    }
}
