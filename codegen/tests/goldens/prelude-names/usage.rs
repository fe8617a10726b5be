//! Definitions called like Rust's prelude or like the runtime get other names, and hide nothing from `use mcp_x::*`.

use mcp_prelude_names::*;

use crate::again;

#[test]
fn the_prelude_is_still_there() {
    let none: Option<Vec<String>> = None;
    assert_eq!(none, None);
    let holder = Holder::new()
        .with_option(OptionItem::new("v"))
        .with_kind(HolderKind::A);
    assert_eq!(
        mcp_wire::to_string(&holder),
        r#"{"kind":"a","option":{"value":"v"}}"#
    );
    assert_eq!(again::<Holder>("{}"), "{}");
}
