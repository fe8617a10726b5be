//! A tag that one variant may leave out: its absence means that variant.

use mcp_union_by_absence::Params;

use crate::{again, refusal};

#[test]
fn absence_decides_and_stays_absent() {
    for (text, form) in [
        (r#"{"fields":1}"#, true),
        (r#"{"fields":1,"mode":"form"}"#, true),
        (r#"{"mode":"url","url":"u"}"#, false),
    ] {
        let params: Params = mcp_wire::from_str(text).unwrap();
        assert_eq!(matches!(params, Params::Form(_)), form, "{text}");
        assert_eq!(mcp_wire::to_string(&params), text);
    }
    assert_eq!(
        again::<Params>(r#"{"fields":1,"mode":null}"#),
        r#"{"fields":1}"#
    );
    assert!(refusal::<Params>(r#"{"mode":"fax","fields":1}"#).starts_with("at /mode: "));
}
