//! A constant that differs decides; variants are named by what their types do not share.

use mcp_union_by_tag::{CircleShape, Shape};

use crate::{again, refusal};

#[test]
fn the_tag_decides_wherever_it_stands() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"side":1,"type":"square"}"#),
        Ok(Shape::Square(_))
    ));
    assert!(matches!(
        mcp_wire::from_str(r#"{"type":"circle","radius":1}"#),
        Ok(Shape::Circle(_))
    ));
    assert_eq!(
        mcp_wire::to_string(&Shape::from(CircleShape::new(2))),
        r#"{"type":"circle","radius":2}"#
    );
    assert_eq!(
        again::<Shape>(r#"{"side":1,"x":{"type":"circle"},"type":"square"}"#),
        r#"{"type":"square","side":1,"x":{"type":"circle"}}"#
    );
}

#[test]
fn an_unknown_tag_is_refused_with_those_it_may_be() {
    let said = refusal::<Shape>(r#"{"type":"oval"}"#);
    assert!(
        said.starts_with("at /type: ") && said.contains("circle") && said.contains("oval"),
        "{said}"
    );
    assert!(refusal::<Shape>(r#"{"side":1}"#).contains("`type`"));
    assert!(refusal::<Shape>(r#"{"type":"circle","side":1}"#).contains("`radius`"));
}
