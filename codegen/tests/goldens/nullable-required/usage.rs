//! `null` is a value where a member may be `null`, by its types or as a choice of `anyOf`: absence is something else.

use mcp_nullable_required::{Owner, Task};

use crate::{again, refusal};

#[test]
fn null_is_kept_and_absence_refused() {
    for text in [
        r#"{"owner":null,"ttl":null}"#,
        r#"{"owner":{"name":"n"},"ttl":0}"#,
    ] {
        assert_eq!(again::<Task>(text), text);
    }
    assert_eq!(
        mcp_wire::to_string(&Task::new(Some(Owner::new("n")), None)),
        r#"{"owner":{"name":"n"},"ttl":null}"#
    );
    assert!(refusal::<Task>(r#"{"owner":null}"#).contains("`ttl`"));
    assert_eq!(
        again::<Task>(r#"{"note":null,"owner":null,"ttl":1}"#),
        r#"{"note":null,"owner":null,"ttl":1}"#
    );
    assert_eq!(again::<Task>(r#"{"owner":null,"ttl":1}"#), r#"{"owner":null,"ttl":1}"#);
}
