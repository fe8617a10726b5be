//! No tag, but members that one variant alone must have, beside those of the other, in their place, or inside of one.

use mcp_union_by_presence::{Choice, Contents, Schema};

use crate::{again, refusal};

#[test]
fn the_surplus_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"values":["a"]}"#),
        Ok(Choice::Plain(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"values":["a"],"titles":[]}"#),
        Ok(Choice::Titled(_))
    ));
    assert_eq!(again::<Choice>(r#"{"values":[]}"#), r#"{"values":[]}"#);
    assert!(refusal::<Choice>("{}").contains("`values`"));
}

/// Each variant must have a member that no other knows: the one that comes first decides.
#[test]
fn the_first_member_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"uri":"u","blob":"b"}"#),
        Ok(Contents::BlobContents(_))
    ));
    assert_eq!(
        again::<Contents>(r#"{"uri":"u","blob":"b"}"#),
        r#"{"blob":"b","uri":"u"}"#
    );
    assert_eq!(
        again::<Contents>(r#"{"uri":"u","values":[]}"#),
        r#"{"values":[],"uri":"u"}"#
    );
    let said = refusal::<Contents>(r#"{"uri":"u"}"#);
    assert!(
        said.contains("`values`") && said.contains("`blob`"),
        "{said}"
    );
    refusal::<Contents>("[]");
}

/// Both have the same members, but one has a member inside it that the other does not know.
#[test]
fn the_member_inside_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"items":{"titles":["t"],"values":[]}}"#),
        Ok(Schema::Titled(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"items":{},"titles":[]}"#),
        Ok(Schema::Plain(_))
    ));
    let text = r#"{"items":{"any": true}}"#;
    assert_eq!(again::<Schema>(text), text);
}
