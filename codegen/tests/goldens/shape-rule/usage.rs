//! What a rule says is opaque is kept as its text, whatever the schema says of its members.

use mcp_shape_rule::Tool;
use mcp_wire::Json;

use crate::again;

#[test]
fn the_text_is_kept() {
    let text = r#"{"_meta":{"b":1,"a": 2},"any":null,"inputSchema":{"type": "object" }}"#;
    let tool: Tool = mcp_wire::from_str(text).unwrap();
    assert_eq!(tool.input_schema.text(), r#"{"type": "object" }"#);
    assert_eq!(
        tool.meta
            .as_ref()
            .and_then(|meta| meta.get("b"))
            .map(Json::text),
        Some("1")
    );
    assert_eq!(
        again::<Tool>(text),
        r#"{"_meta":{"b":1,"a":2},"any":null,"inputSchema":{"type": "object" }}"#
    );
}
