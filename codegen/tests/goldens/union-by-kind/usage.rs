//! Variants of different JSON kinds are told apart by the kind; a whole number is an integer where one is offered.

use mcp_union_by_kind::{Bag, Token, Value};

use crate::{again, refusal};

#[test]
fn the_kind_decides() {
    let read = |text: &str| mcp_wire::from_str::<Value>(text).unwrap();
    assert_eq!(read(r#""s""#), Value::from("s".to_owned()));
    assert_eq!(read("true"), Value::Boolean(true));
    assert_eq!(read("5"), Value::Number(5.into()));
    assert_eq!(read(r#"["a"]"#), Value::List(vec!["a".to_owned()]));
    assert_eq!(read(r#"{"size":1}"#), Value::Bag(Bag::new(1)));
    assert_eq!(
        refusal::<Value>("null").split(':').next(),
        Some("at the root")
    );
}

#[test]
fn an_integer_may_be_spelled_with_a_fraction_of_nothing() {
    assert!(matches!(mcp_wire::from_str("7"), Ok(Token::Integer(_))));
    assert_eq!(again::<Token>("7.0"), "7.0");
    refusal::<Token>("7.5");
}
