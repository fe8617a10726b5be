//! A constant that differs decides, and so does its absence, or any other string; variants are named by what their types
//! do not share.

use mcp_union_by_tag::{AnyShape, CircleShape, OtherShape, Outline, Shape};

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

/// One variant names its constant, the other takes every other string.
#[test]
fn every_other_string_is_the_open_variant() {
    assert!(matches!(
        mcp_wire::from_str(r#"{"type":"circle","radius":1}"#),
        Ok(AnyShape::Circle(_))
    ));
    let other = AnyShape::Other(OtherShape::new("new"));
    assert_eq!(
        mcp_wire::from_str::<AnyShape>(r#"{"type":"new"}"#).unwrap(),
        other
    );
    assert_eq!(
        again::<AnyShape>(r#"{"id":1,"type":"circles"}"#),
        r#"{"id":1,"type":"circles"}"#
    );
    assert!(refusal::<AnyShape>("{}").contains("`type`"));
    refusal::<AnyShape>(r#"{"type":5}"#);
}

/// A tag that one variant may leave out: its absence means that variant.
#[test]
fn absence_decides_and_stays_absent() {
    for (text, line) in [
        (r#"{"length":1}"#, true),
        (r#"{"length":1,"type":"line"}"#, true),
        (r#"{"type":"square","side":2}"#, false),
    ] {
        let outline: Outline = mcp_wire::from_str(text).unwrap();
        assert_eq!(matches!(outline, Outline::Line(_)), line, "{text}");
        assert_eq!(mcp_wire::to_string(&outline), text);
    }
    assert_eq!(
        again::<Outline>(r#"{"length":1,"type":null}"#),
        r#"{"length":1}"#
    );
    assert!(refusal::<Outline>(r#"{"type":"fax","length":1}"#).starts_with("at /type: "));
}
