//! What stands beside the named members: kept, typed, or refused.

use mcp_rest::{Closed, Open, Typed};

use crate::{again, refusal};

#[test]
fn each_object_says_what_may_stand_beside_its_members() {
    let text = r#"{"name":"n","more":[1, 2],"less":null}"#;
    assert_eq!(again::<Open>(text), text);
    let typed: Typed = mcp_wire::from_str(r#"{"a":1,"name":"n","b":2}"#).unwrap();
    assert_eq!(
        typed.extra.get("b").and_then(|value| value.as_i64()),
        Some(2)
    );
    assert_eq!(mcp_wire::to_string(&typed), r#"{"name":"n","a":1,"b":2}"#);
    assert!(refusal::<Typed>(r#"{"name":"n","a":"x"}"#).starts_with("at /a: expected an integer"));
    assert_eq!(again::<Closed>(r#"{"name":"n"}"#), r#"{"name":"n"}"#);
    let said = refusal::<Closed>(r#"{"name":"n","more":1}"#);
    assert!(said.contains("more"), "{said}");
}
