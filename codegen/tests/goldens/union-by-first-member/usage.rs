//! No tag, but each variant must have a member that no other knows: the one that comes first decides.

use mcp_union_by_first_member::Contents;

use crate::{again, refusal};

#[test]
fn the_member_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"uri":"u","blob":"b"}"#),
        Ok(Contents::Blob(_))
    ));
    assert_eq!(
        again::<Contents>(r#"{"uri":"u","text":"t"}"#),
        r#"{"text":"t","uri":"u"}"#
    );
    let said = refusal::<Contents>(r#"{"uri":"u"}"#);
    assert!(said.contains("`text`") && said.contains("`blob`"), "{said}");
    refusal::<Contents>("[]");
}
