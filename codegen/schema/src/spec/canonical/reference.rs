//! `$ref` targets: from one dialect's places to the other's, and looked up.

use serde_json::Value;

use super::{Holds, holds};
use crate::pointer;

/// Returns the pointer of a `$ref`, with `definitions` called `$defs` where that is a place of definitions.
///
/// The position is followed step by step, so that a member called `definitions` keeps its name.
pub(super) fn rewritten(pointer: &str) -> String {
    let mut position = Holds::Schema;
    let mut rewritten = String::new();
    for segment in pointer.split('/').skip(1) {
        let (segment, next) = match position {
            Holds::Schema if segment == "definitions" => ("$defs", Holds::Named),
            Holds::Schema => (segment, holds(segment)),
            Holds::Named | Holds::List => (segment, Holds::Schema),
            Holds::Data => (segment, Holds::Data),
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
