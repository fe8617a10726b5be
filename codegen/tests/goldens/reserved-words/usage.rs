//! Members that are words of Rust, or of the generated code itself.

use mcp_reserved_words::{Word, Words};

use crate::again;

#[test]
fn every_member_has_a_field_and_a_setter() {
    let words = (Words::new(1, "t"))
        .with_async(true)
        .with_object(2)
        .with_reader(3)
        .with_ref("r")
        .with_self("s");
    assert_eq!(
        (words.type_.as_str(), words.self_.as_deref(), words.async_),
        ("t", Some("s"), Some(true))
    );
    let text =
        r#"{"$ref":"r","async":true,"member":1,"object":2,"reader":3,"self":"s","type":"t"}"#;
    assert_eq!(mcp_wire::to_string(&words), text);
    assert_eq!(again::<Words>(text), text);
    assert_eq!(Word::SelfValue.as_str(), "self");
}
