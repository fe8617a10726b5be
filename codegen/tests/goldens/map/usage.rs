//! An object whose members are all of one type is a map that keeps their order; another name for a type is an alias.

use mcp_map::{Names, Report, Same, Scores, Tool, Tools};
use mcp_wire::Map;

use crate::{again, refusal};

#[test]
fn order_is_kept_and_values_are_typed() {
    let text = r#"{"scores":{"z":1,"a":2},"tools":{"t":{"name":"n"}}}"#;
    assert_eq!(again::<Report>(text), text);
    let mut scores = Scores::new();
    scores.insert("z", 1.into());
    let tools = Map::from_iter([("t", Tool::new("n"))]);
    let report = Report::new(scores).with_tools(tools);
    assert_eq!(
        mcp_wire::to_string(&report),
        r#"{"scores":{"z":1},"tools":{"t":{"name":"n"}}}"#
    );
    let said = refusal::<Report>(r#"{"scores":{"a":1,"b/c":"x"}}"#);
    assert!(
        said.starts_with("at /scores/b~1c: expected an integer"),
        "{said}"
    );
}

#[test]
fn an_alias_is_the_same_type() {
    let tools: Tools = vec![Tool::new("a"), Same::new("b")];
    assert_eq!(
        mcp_wire::to_string(&tools),
        r#"[{"name":"a"},{"name":"b"}]"#
    );
    assert_eq!(again::<Names>(r#"["a","b"]"#), r#"["a","b"]"#);
}
