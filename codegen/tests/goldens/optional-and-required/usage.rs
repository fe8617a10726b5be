//! Required members go into `new`, optional ones into `with_*`; `null` for an optional one is read as absent, and is a value
//! where a member may be `null`, by its types or as a choice of `anyOf`.

use mcp_optional_and_required::{Hints, Task, Tool};

use crate::{again, refusal};

#[test]
fn what_is_absent_stays_absent_and_what_is_empty_stays_empty() {
    assert_eq!(again::<Tool>(r#"{"name":"n"}"#), r#"{"name":"n"}"#);
    assert_eq!(
        again::<Tool>(r#"{"name":"n","sizes":[]}"#),
        r#"{"name":"n","sizes":[]}"#
    );
    assert_eq!(
        again::<Tool>(r#"{"name":"n","title":null}"#),
        r#"{"name":"n"}"#
    );
    assert!(refusal::<Tool>(r#"{"name":null}"#).starts_with("at /name: expected a string"));
}

#[test]
fn setters_set() {
    let tool = Tool::new("n")
        .with_title("T")
        .with_sizes(vec![1.into(), 2.into()]);
    assert_eq!(
        mcp_wire::to_string(&tool),
        r#"{"name":"n","sizes":[1,2],"title":"T"}"#
    );
    assert_eq!(Hints::new(), Hints::default());
    assert_eq!(
        mcp_wire::to_string(&Hints::new().with_read_only(false)),
        r#"{"readOnly":false}"#
    );
}

#[test]
fn null_is_kept_and_absence_refused() {
    for text in [
        r#"{"owner":null,"ttl":null}"#,
        r#"{"owner":{"name":"n"},"ttl":0}"#,
        r#"{"note":null,"owner":null,"ttl":1}"#,
        r#"{"owner":null,"ttl":1}"#,
    ] {
        assert_eq!(again::<Task>(text), text);
    }
    assert_eq!(
        mcp_wire::to_string(&Task::new(Some(Tool::new("n")), None)),
        r#"{"owner":{"name":"n"},"ttl":null}"#
    );
    assert!(refusal::<Task>(r#"{"owner":null}"#).contains("`ttl`"));
}
