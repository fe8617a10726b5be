//! What the schema leaves open is kept as its text, and only checked to be JSON of that kind.

use mcp_opaque_json::Call;
use mcp_wire::{Json, JsonArray, JsonObject};

use crate::{again, refusal};

#[test]
fn the_text_is_kept_as_it_is() {
    let text = r#"{"anything":1.0,"arguments":{"b": 1, "a":2.50},"list":[ ],"maybe":null}"#;
    assert_eq!(again::<Call>(text), text);
    let call: Call = mcp_wire::from_str(text).unwrap();
    assert_eq!(call.arguments.text(), r#"{"b": 1, "a":2.50}"#);
    assert_eq!(call.maybe, Some(Json::null()));
    let made = Call::new(true, JsonObject::new(), JsonArray::new()).with_maybe(5);
    assert_eq!(
        mcp_wire::to_string(&made),
        r#"{"anything":true,"arguments":{},"list":[],"maybe":5}"#
    );
}

#[test]
fn another_kind_is_refused() {
    let said = refusal::<Call>(r#"{"anything":1,"arguments":[],"list":[]}"#);
    assert!(
        said.starts_with("at /arguments: expected an object"),
        "{said}"
    );
    refusal::<Call>(r#"{"anything":tru,"arguments":{},"list":[]}"#);
}
