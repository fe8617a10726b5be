//! What a side may send: a method that this revision does not name is kept, its params unread.

use mcp_open_method_union::{DoneNotification, ServerNotification};

use crate::{again, refusal};

#[test]
fn an_unknown_method_is_a_case_of_its_own() {
    let text = r#"{"method":"notifications/new","params":{"a": 1},"vendor":2}"#;
    let read: ServerNotification = mcp_wire::from_str(text).unwrap();
    let ServerNotification::Unknown(message) = &read else {
        panic!("{read:?}");
    };
    assert_eq!(message.method, "notifications/new");
    assert_eq!(mcp_wire::to_string(&read), text);
}

#[test]
fn a_known_method_is_checked() {
    let done = ServerNotification::from(DoneNotification::new());
    assert_eq!(
        mcp_wire::to_string(&done),
        r#"{"method":"notifications/done"}"#
    );
    let text = r#"{"method":"notifications/log","params":{"text":"t"}}"#;
    assert!(matches!(
        mcp_wire::from_str(text),
        Ok(ServerNotification::Log(_))
    ));
    assert_eq!(again::<ServerNotification>(text), text);
    assert!(
        refusal::<ServerNotification>(r#"{"method":"notifications/log","params":{}}"#)
            .starts_with("at /params")
    );
    assert!(refusal::<ServerNotification>("{}").contains("`method`"));
}
