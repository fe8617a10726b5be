//! Lists are told apart by their first element; the empty one is the first variant.

use mcp_union_by_element::{Answer, Batch};

use crate::{again, refusal};

#[test]
fn the_first_element_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"[{"method":"m"}]"#),
        Ok(Batch::CallList(_))
    ));
    assert_eq!(
        mcp_wire::from_str::<Batch>(r#"[{"result":"r"}]"#).unwrap(),
        Batch::from(vec![Answer::new("r")])
    );
    assert!(matches!(mcp_wire::from_str("[]"), Ok(Batch::CallList(calls)) if calls.is_empty()));
    assert_eq!(again::<Batch>("[]"), "[]");
    let said = refusal::<Batch>(r#"[{"method":"m"},{"result":"r"}]"#);
    assert!(said.starts_with("at /1"), "{said}");
}
