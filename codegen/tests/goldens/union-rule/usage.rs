//! A rule decides where the schema leaves open: by a member, or by who asks.

use mcp_union_rule::{Answer, Outcome};

#[test]
fn the_rule_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"a":"x","b":"y"}"#),
        Ok(Outcome::Long(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"a":"x"}"#),
        Ok(Outcome::Short(_))
    ));
    let alone: Answer = mcp_wire::from_str(r#"{"a":"x","b":"y"}"#).unwrap();
    assert!(matches!(alone, Answer::Short(_)));
    assert_eq!(mcp_wire::to_string(&alone), r#"{"a":"x","b":"y"}"#);
}
