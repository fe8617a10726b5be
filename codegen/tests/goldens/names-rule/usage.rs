//! Types, members and inline schemas go by the names that the rules give them; the wire does not change.

use mcp_names_rule::{Hints, Other, Tool, UrlValue};

use crate::again;

#[test]
fn rust_has_the_new_names_and_the_wire_the_old_ones() {
    let tool = (Tool::new().with_meta("m").with_vendor_id(1)).with_hints(Hints::new().with_a(true));
    let text = r#"{"_meta":"m","hints":{"a":true},"x.org/id":1}"#;
    assert_eq!(mcp_wire::to_string(&tool), text);
    assert_eq!(again::<Tool>(text), text);
    assert_eq!(Other::new().with_meta("m").meta.as_deref(), Some("m"));
    assert_eq!(UrlValue::from("u").0, "u");
}
