//! One variant names its constant, the other takes every other string.

use mcp_union_by_tag_other::{OtherReference, Reference};

use crate::{again, refusal};

#[test]
fn every_other_string_is_the_open_variant() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"kind":"tool","name":"n"}"#),
        Ok(Reference::Tool(_))
    ));
    let other = Reference::Other(OtherReference::new("new"));
    assert_eq!(
        mcp_wire::from_str::<Reference>(r#"{"kind":"new"}"#).unwrap(),
        other
    );
    assert_eq!(
        again::<Reference>(r#"{"id":1,"kind":"tools"}"#),
        r#"{"id":1,"kind":"tools"}"#
    );
    assert!(refusal::<Reference>("{}").contains("`kind`"));
    refusal::<Reference>(r#"{"kind":5}"#);
}
