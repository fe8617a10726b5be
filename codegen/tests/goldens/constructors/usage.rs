//! A constructor takes what must be there, what identifies the thing first, one of two texts side by side by a word, and
//! knows what goes without saying.

use mcp_constructors::{PROTOCOL_VERSION, Page, PageScope, Author};

#[test]
fn what_goes_without_saying_is_not_asked_for() {
    let page = Page::new(mcp_wire::args::Uri("file:///a"), "text");
    assert_eq!(
        mcp_wire::to_string(&page),
        r#"{"body":"text","by":{"speaks":"constructors"},"number":1,"scope":"mine","uri":"file:///a"}"#
    );
    assert_eq!(page.by, Author::default());
    assert_eq!(page.by.speaks, PROTOCOL_VERSION);
    let other = page.with_number(2).with_scope(PageScope::All);
    assert_eq!(other.number, 2);
}
