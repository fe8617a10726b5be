//! Constants are no fields: written always, and checked on reading. One that may be absent is a field.

use mcp_constant_member::{Form, FormKind, Packet};

use crate::{again, refusal};

#[test]
fn constants_are_written_first_and_checked() {
    // A number is written as the schema spells it, and read in any spelling.
    let whole = r#"{"code":-32603.0,"jsonrpc":"2.0","version":3,"name":"n"}"#;
    assert_eq!(mcp_wire::to_string(&Packet::new("n")), whole);
    for text in [
        r#"{"name":"n","version":3,"jsonrpc":"2.0","code":-32603.0}"#,
        r#"{"name":"n","version":3,"jsonrpc":"2.0","code":-32603}"#,
        r#"{"name":"n","version":3.0,"jsonrpc":"2.0","code":-3.2603e4}"#,
    ] {
        assert_eq!(again::<Packet>(text), whole);
    }
    for (text, place) in [
        (
            r#"{"jsonrpc":"1.0","version":3,"code":-32603,"name":"n"}"#,
            "at /jsonrpc: ",
        ),
        (
            r#"{"jsonrpc":"2.0","version":4,"code":-32603,"name":"n"}"#,
            "at /version: ",
        ),
        (
            r#"{"jsonrpc":"2.0","version":3,"code":-32603.5,"name":"n"}"#,
            "at /code: expected -32603.0, found -32603.5",
        ),
        (r#"{"version":3,"code":-32603,"name":"n"}"#, "`jsonrpc`"),
        (r#"{"jsonrpc":"2.0","code":-32603,"name":"n"}"#, "`version`"),
        (r#"{"jsonrpc":"2.0","version":3,"name":"n"}"#, "`code`"),
    ] {
        let said = refusal::<Packet>(text);
        assert!(said.contains(place), "{text}: {said}");
    }
}

#[test]
fn the_absence_of_a_constant_survives() {
    for text in [r#"{"title":"t"}"#, r#"{"kind":"form","title":"t"}"#] {
        assert_eq!(again::<Form>(text), text);
    }
    assert_eq!(
        mcp_wire::to_string(&Form::new("t").with_kind(FormKind::Form)),
        r#"{"kind":"form","title":"t"}"#
    );
    assert!(refusal::<Form>(r#"{"kind":"url","title":"t"}"#).starts_with("at /kind: "));
}
