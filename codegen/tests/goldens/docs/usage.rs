//! Doc lines come from `docs.toml`: of the revision, of the type, of the type it is like, of everywhere.

use mcp_docs::{Tool, ToolItem};

use crate::again;

#[test]
fn lines_change_nothing_on_the_wire() {
    let text = r#"{"name":"n","title":"t"}"#;
    assert_eq!(
        (again::<Tool>(text), again::<ToolItem>(text)),
        (text.to_owned(), text.to_owned())
    );
}
