//! A rule decides where the schema leaves open: by a member, or by who asks.

use mcp_union_rule::{Answer, Outcome};

#[test]
fn the_rule_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"a":"x","b":{"next":1}}"#),
        Ok(Outcome::Long(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"a":"x","b":{}}"#),
        Ok(Outcome::Short(_))
    ));
    let alone: Answer = mcp_wire::from_str(r#"{"a":"x","b":{"next":1}}"#).unwrap();
    assert!(matches!(alone, Answer::Short(_)));
    assert_eq!(mcp_wire::to_string(&alone), r#"{"a":"x","b":{"next":1}}"#);
}
