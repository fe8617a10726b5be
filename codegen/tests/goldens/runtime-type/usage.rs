//! A hand-written type stands for a definition, under the definition's name.

use mcp_runtime_type::{Cancel, RequestId};

use crate::{again, refusal};

#[test]
fn it_is_the_hand_written_type() {
    let id: mcp_wire::RequestId = RequestId::from(5);
    assert_eq!(mcp_wire::to_string(&Cancel::new(id)), r#"{"id":5}"#);
    assert_eq!(again::<Cancel>(r#"{"id":"a"}"#), r#"{"id":"a"}"#);
    assert!(refusal::<Cancel>(r#"{"id":true}"#).starts_with("at /id: "));
}
