//! One variant demands more than the other: where the surplus is, it is that one.

use mcp_union_by_presence::Choice;

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
