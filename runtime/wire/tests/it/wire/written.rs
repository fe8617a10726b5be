//! Envelopes written from their parts.

use mcp_wire::envelope::write::{error, notification, request, response};
use mcp_wire::{ErrorObject, RequestId, peek};

#[test]
fn what_is_written_from_parts_is_read_as_them() {
    let id = RequestId::from(7);
    let refused = ErrorObject::new(-32601, "no \"such\"");
    let texts = [
        request(&id, "a/\"b", Some(r#"{"x":1.0}"#)),
        request(&RequestId::from("é"), "ping", None),
        notification("n", Some("{}")),
        response(&id, r#"{"r":[]}"#),
        error(Some(&id), &refused),
        error(None, &refused),
    ];
    let seen = texts.each_ref().map(|text| peek(text.as_bytes()).unwrap());
    let ids = seen.each_ref().map(|seen| seen.id.map(|id| id.text()));
    assert_eq!(
        ids,
        [Some("7"), Some("\"é\""), None, Some("7"), Some("7"), None]
    );
    let methods = seen.each_ref().map(|seen| seen.method.as_deref());
    let [a, ping, n] = [Some("a/\"b"), Some("ping"), Some("n")];
    assert_eq!(methods, [a, ping, n, None, None, None]);
    let params = seen.each_ref().map(|seen| seen.params.map(|it| it.text()));
    assert_eq!(
        params,
        [Some(r#"{"x":1.0}"#), None, Some("{}"), None, None, None]
    );
    assert_eq!(seen[3].result.map(|it| it.text()), Some(r#"{"r":[]}"#));
    for seen in &seen[4..] {
        let error = seen.error.map(|error| error.to_json().read());
        assert_eq!(error, Some(Ok(refused.clone())));
    }
}
