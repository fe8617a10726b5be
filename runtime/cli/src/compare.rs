//! The parts that a text lost when it was read and written: JSON pointers of parts that are missing or differ.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mcp_wire::pointer::escaped;
use mcp_wire::{Json, JsonArray, JsonObject, Kind};

/// Returns the pointers of values that are missing, other, or spelled otherwise in `after`.
pub(crate) fn lost(before: &str, after: &str) -> Vec<String> {
    let mut lost = Vec::new();
    compare(before, after, &mut String::new(), &mut lost);
    lost
}

/// As deep as the texts are nested, which their reader limits.
fn compare(before: &str, after: &str, pointer: &mut String, lost: &mut Vec<String>) {
    if before == after {
        return;
    }
    if let (Ok(before), Ok(after)) = (JsonObject::from_text(before), JsonObject::from_text(after)) {
        let others: BTreeMap<Cow<'_, str>, &str> = after.iter().collect();
        for (name, value) in before.iter() {
            let step = format!("/{}", escaped(&name));
            inner(value, others.get(&name).copied(), &step, pointer, lost);
        }
        return;
    }
    if let (Ok(before), Ok(after)) = (JsonArray::from_text(before), JsonArray::from_text(after)) {
        let mut others = after.iter();
        for (index, value) in before.iter().enumerate() {
            inner(value, others.next(), &format!("/{index}"), pointer, lost);
        }
        return;
    }
    // A string may be escaped in more than one way; a number's spelling counts.
    let same = match (Json::from_text(before), Json::from_text(after)) {
        (Ok(before), Ok(after)) => before.kind() == Kind::String && before == after,
        _ => false,
    };
    if !same {
        lost.push(pointer.clone());
    }
}

fn inner(
    before: &str,
    after: Option<&str>,
    step: &str,
    pointer: &mut String,
    lost: &mut Vec<String>,
) {
    let length = pointer.len();
    pointer.push_str(step);
    match after {
        Some(after) => compare(before, after, pointer, lost),
        None => lost.push(pointer.clone()),
    }
    pointer.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::lost;

    #[test]
    fn what_is_gone_or_spelled_otherwise_is_named() {
        let before = r#"{"a":[1,2.0,{"b/c":null}],"d":"\u0041"}"#;
        assert_eq!(
            lost(before, r#"{"d":"A","a":[1,2.0,{"b/c":null}]}"#),
            [""; 0]
        );
        assert_eq!(
            lost(before, r#"{"d":"A","a":[1,2,{}]}"#),
            ["/a/1", "/a/2/b~1c"]
        );
        assert_eq!(lost(before, r#"{"a":[1]}"#), ["/a/1", "/a/2", "/d"]);
    }
}
