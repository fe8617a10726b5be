//! A constant that may be absent is a field, since its absence has to survive.

use mcp_optional_constant::{Form, FormKind};

use crate::{again, refusal};

#[test]
fn absence_survives() {
    for text in [r#"{"title":"t"}"#, r#"{"kind":"form","title":"t"}"#] {
        assert_eq!(again::<Form>(text), text);
    }
    assert_eq!(
        mcp_wire::to_string(&Form::new("t").with_kind(FormKind::Form)),
        r#"{"kind":"form","title":"t"}"#
    );
    assert!(refusal::<Form>(r#"{"kind":"url","title":"t"}"#).starts_with("at /kind: "));
}
