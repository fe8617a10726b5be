//! A schema that states each definition alone, with the dialect and with copies of others, is read as one with references.

use mcp_definitions_alone::OrderResult;

use crate::{again, refusal};

#[test]
fn a_result_that_is_a_choice_has_the_members_of_both() {
    let text = r#"{"state":"open","note":"n","since":"s"}"#;
    assert_eq!(again::<OrderResult>(text), text);
    let read = mcp_wire::from_str::<OrderResult>(text).unwrap();
    assert!(matches!(read, OrderResult::Open(open) if open.note.as_deref() == Some("n")));
    assert!(refusal::<OrderResult>(r#"{"state":"open","note":"n"}"#).contains("`since`"));
}
