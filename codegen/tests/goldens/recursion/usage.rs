//! A type that holds itself has a `Box` where it needs one, and nowhere else.

use mcp_recursion::{Expression, Negation, Tree};

use crate::again;

#[test]
fn boxes_show_in_fields_alone() {
    let tree = Tree::new("a")
        .with_left(Tree::new("b"))
        .with_children(vec![Tree::new("c")]);
    let text = r#"{"children":[{"value":"c"}],"left":{"value":"b"},"value":"a"}"#;
    assert_eq!(mcp_wire::to_string(&tree), text);
    assert_eq!(again::<Tree>(text), text);
    let twice = Negation::new(Expression::from(Negation::new("x".to_owned())));
    assert_eq!(
        mcp_wire::to_string(&Expression::from(twice)),
        r#"{"of":{"of":"x"}}"#
    );
    assert_eq!(
        again::<Expression>(r#"{"of":{"of":"x"}}"#),
        r#"{"of":{"of":"x"}}"#
    );
}

#[test]
fn a_text_that_is_too_deep_is_refused_and_no_stack_overflows() {
    let deep = r#"{"of":"#.repeat(100_000);
    assert!(mcp_wire::from_str::<Expression>(&deep).is_err());
}
