//! `$ref` targets: from one dialect's places to the other's, and looked up.

use serde_json::Value;

use super::{Holds, holds};

/// The pointer of a `$ref`, with `definitions` called `$defs` where that is a place of definitions.
///
/// The position is followed step by step, so that a member called `definitions` keeps its name.
pub(super) fn rewritten(pointer: &str) -> String {
    let mut position = Holds::Schema;
    let mut rewritten = String::new();
    for step in pointer.split('/').skip(1) {
        let (step, next) = match position {
            Holds::Schema if step == "definitions" => ("$defs", Holds::Named),
            Holds::Schema => (step, holds(step)),
            Holds::Named | Holds::List => (step, Holds::Schema),
            Holds::Data => (step, Holds::Data),
        };
        position = next;
        rewritten.push('/');
        rewritten.push_str(step);
    }
    rewritten
}

/// Whether the pointer, percent-encoded as in a URI, leads to something.
pub(super) fn resolves(schema: &Value, pointer: &str) -> bool {
    percent_decoded(pointer).is_some_and(|pointer| schema.pointer(&pointer).is_some())
}

/// A JSON pointer out of a URI fragment.
pub(crate) fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = rest else {
            return None;
        };
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}
