//! Variants whose types share nothing are named after their types, where one of them has no tag to be named after.

use mcp_variant_names::{Custom, Moment};

#[test]
fn names_follow_the_types() {
    let begun: Moment = mcp_wire::from_str(r#"{"at":"start"}"#).unwrap();
    assert!(matches!(begun, Moment::Begun(_)));
    let custom = Moment::Custom(Custom::new("noon"));
    assert_eq!(mcp_wire::to_string(&custom), r#"{"at":"noon"}"#);
}
