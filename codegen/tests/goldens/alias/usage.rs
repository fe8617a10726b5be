//! Another name for a type is a Rust alias: the same type.

use mcp_alias::{Names, Same, Tool, Tools};

use crate::again;

#[test]
fn it_is_the_same_type() {
    let tools: Tools = vec![Tool::new("a"), Same::new("b")];
    assert_eq!(
        mcp_wire::to_string(&tools),
        r#"[{"name":"a"},{"name":"b"}]"#
    );
    assert_eq!(again::<Names>(r#"["a","b"]"#), r#"["a","b"]"#);
}
