//! A string enum knows all its strings, and no other.

use mcp_string_enum::{Level, Only};

use crate::{again, refusal};

#[test]
fn every_string_has_its_value() {
    for level in Level::ALL {
        let text = mcp_wire::to_string(&level);
        assert_eq!(text, format!("{:?}", level.as_str()));
        assert_eq!(mcp_wire::from_str::<Level>(&text).unwrap(), level);
    }
    assert_eq!(Level::NA.to_string(), "N/A");
    assert_eq!(again::<Level>(r#""\u0064ebug""#), r#""debug""#);
    assert_eq!(mcp_wire::from_str::<Only>(r#""one""#).unwrap(), Only::One);
}

#[test]
fn another_string_is_refused_with_those_it_may_be() {
    let said = refusal::<Level>(r#""Debug""#);
    assert!(said.contains("debug") && said.contains("N/A"), "{said}");
    refusal::<Only>("1");
}
