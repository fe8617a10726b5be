//! What `allOf` joins is one struct with the members of all.

use mcp_all_of::File;

use crate::{again, refusal};

#[test]
fn it_has_the_members_of_all_and_what_any_requires() {
    let text = r#"{"kind":"file","meta":{},"name":"n","size":1}"#;
    assert_eq!(again::<File>(text), text);
    assert_eq!(
        mcp_wire::to_string(&File::new("n", 1)),
        r#"{"kind":"file","name":"n","size":1}"#
    );
    assert!(refusal::<File>(r#"{"kind":"file","name":"n"}"#).contains("`size`"));
}
