//! An inline object is a type named after its place.

use mcp_hoisted_inline_object::{Tool, ToolAnnotations, ToolIcons};

use crate::{again, refusal};

#[test]
fn inline_objects_are_types() {
    let tool = (Tool::new("n"))
        .with_annotations(ToolAnnotations::new().with_title("T"))
        .with_icons(vec![ToolIcons::new("s")]);
    let text = r#"{"annotations":{"title":"T"},"icons":[{"src":"s"}],"name":"n"}"#;
    assert_eq!(mcp_wire::to_string(&tool), text);
    assert_eq!(again::<Tool>(text), text);
    let said = refusal::<Tool>(r#"{"name":"n","icons":[{"src":"s"},{}]}"#);
    assert!(said.starts_with("at /icons/1"), "{said}");
}
