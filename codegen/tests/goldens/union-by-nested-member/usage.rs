//! Both have the same members, but one has a member inside it that the other does not know.

use mcp_union_by_nested_member::Schema;

use crate::again;

#[test]
fn the_member_inside_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"items":{"titles":["t"]}}"#),
        Ok(Schema::Titled(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"items":{},"titles":[]}"#),
        Ok(Schema::Plain(_))
    ));
    let text = r#"{"items":{"any": true}}"#;
    assert_eq!(again::<Schema>(text), text);
}
