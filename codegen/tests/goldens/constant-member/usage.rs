//! Constants are no fields: written always, and checked on reading.

use mcp_constant_member::Packet;

use crate::{again, refusal};

#[test]
fn constants_are_written_first_and_checked() {
    assert_eq!(
        mcp_wire::to_string(&Packet::new("n")),
        r#"{"jsonrpc":"2.0","version":3,"name":"n"}"#
    );
    assert_eq!(
        again::<Packet>(r#"{"name":"n","version":3,"jsonrpc":"2.0"}"#),
        r#"{"jsonrpc":"2.0","version":3,"name":"n"}"#
    );
    for (text, place) in [
        (
            r#"{"jsonrpc":"1.0","version":3,"name":"n"}"#,
            "at /jsonrpc: ",
        ),
        (
            r#"{"jsonrpc":"2.0","version":4,"name":"n"}"#,
            "at /version: ",
        ),
        (r#"{"version":3,"name":"n"}"#, "`jsonrpc`"),
        (r#"{"jsonrpc":"2.0","name":"n"}"#, "`version`"),
    ] {
        let said = refusal::<Packet>(text);
        assert!(said.contains(place), "{text}: {said}");
    }
}
