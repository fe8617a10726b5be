//! `$ref` targets: from one dialect's places to the other's, and looked up.

use serde_json::Value;

use super::{KeywordContent, holds};
use crate::pointer;

/// Returns the pointer of a `$ref`, with `definitions` called `$defs` where that is a place of definitions.
///
/// The position is followed step by step, so that a member called `definitions` keeps its name.
pub(super) fn rewritten(pointer: &str) -> String {
    let mut position = KeywordContent::Schema;
    let mut rewritten = String::new();
    for segment in pointer.split('/').skip(1) {
        let (segment, next) = match position {
            KeywordContent::Schema if segment == "definitions" => ("$defs", KeywordContent::Named),
            KeywordContent::Schema => (segment, holds(segment)),
            KeywordContent::Named | KeywordContent::List => (segment, KeywordContent::Schema),
            KeywordContent::Data => (segment, KeywordContent::Data),
        };
        position = next;
        rewritten.push('/');
        rewritten.push_str(segment);
    }
    rewritten
}

/// Returns whether a fragment, percent-encoded as in a URI, leads to something.
pub(super) fn resolves(schema: &Value, fragment: &str) -> bool {
    pointer::of_fragment(fragment).is_some_and(|pointer| schema.pointer(&pointer).is_some())
}

/// Gives each reference another target, where the function has one.
///
/// Recursion is as deep as the text is nested, which its parser limits.
pub(super) fn redirected(schema: &mut Value, to: &impl Fn(&str) -> Option<String>) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| redirected(item, to)),
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(new) = target.strip_prefix('#').and_then(to)
            {
                *target = format!("#{new}");
            }
            members
                .values_mut()
                .for_each(|member| redirected(member, to));
        }
        _ => {}
    }
}
