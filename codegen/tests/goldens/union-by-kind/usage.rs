//! Variants of different JSON kinds are told apart by the kind; a whole number is an integer where one is offered. Lists are
//! told apart by their first element.

use mcp_union_by_kind::{Bag, Batch, Call, Token, Value};

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

/// The empty one is the first variant.
#[test]
fn the_first_element_of_a_list_decides() {
    assert!(matches!(
        mcp_wire::from_str(r#"[{"size":1}]"#),
        Ok(Batch::BagList(_))
    ));
    assert_eq!(
        mcp_wire::from_str::<Batch>(r#"[{"method":"m"}]"#).unwrap(),
        Batch::from(vec![Call::new("m")])
    );
    assert!(matches!(mcp_wire::from_str("[]"), Ok(Batch::BagList(bags)) if bags.is_empty()));
    assert_eq!(again::<Batch>("[]"), "[]");
    let said = refusal::<Batch>(r#"[{"size":1},{"method":"m"}]"#);
    assert!(said.starts_with("at /1"), "{said}");
}
