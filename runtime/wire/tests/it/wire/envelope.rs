//! Which sort of message a text is.

use mcp_wire::{
    ErrorKind, ErrorObject, Json, Message, Packet, RawError, Unreadable, from_str, peek, to_string,
};

fn refusal(text: &str) -> (ErrorKind, String, String) {
    let error = from_str::<Packet>(text).unwrap_err();
    (
        error.kind(),
        error.pointer().to_owned(),
        error.expected().to_owned(),
    )
}

#[test]
fn tells_messages_apart() {
    let read = |text| from_str::<Message>(text).unwrap();
    let Message::Request(request) =
        read(r#"{"params":{"a": 1},"x":0,"method":"m","id":"7","jsonrpc":"2.0"}"#)
    else {
        panic!("a request");
    };
    assert_eq!((request.id, request.method.as_str()), ("7".into(), "m"));
    assert_eq!(
        (request.params.unwrap().text(), request.extra.len()),
        (r#"{"a": 1}"#, 1)
    );
    let Message::Notification(notification) =
        read(r#"{"jsonrpc":"2.0","method":"m","params":null}"#)
    else {
        panic!("a notification");
    };
    assert_eq!(notification.params, None);
    let Message::Response(response) = read(r#"{"jsonrpc":"2.0","id":1,"result":null,"params":[]}"#)
    else {
        panic!("a response");
    };
    assert_eq!(
        (
            response.result.text(),
            response.extra.contains_key("params")
        ),
        ("null", true)
    );
    for text in [
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
    ] {
        assert!(matches!(
            read(text),
            Message::Error(RawError { id: None, .. })
        ));
    }
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#).method(),
        Some("m")
    );
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).id(),
        Some(&1.into())
    );
}

#[test]
fn refuses_what_is_no_message() {
    use ErrorKind::*;
    for (text, kind, pointer, expected) in [
        (
            r#"{"id":1,"method":"m"}"#,
            Missing,
            "",
            "member `jsonrpc` of JSON-RPC message",
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            Constant,
            "/jsonrpc",
            "\"2.0\"",
        ),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
            Constant,
            "/jsonrpc",
            "\"2.0\"",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            Kind,
            "/id",
            "a string or an integer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            Kind,
            "/id",
            "an integer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            Kind,
            "/method",
            "a string",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":5}"#,
            Kind,
            "/params",
            "an object or an array",
        ),
        (
            r#"{"jsonrpc":"2.0","result":{}}"#,
            Missing,
            "",
            "member `id` of JSON-RPC message",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            Kind,
            "/id",
            "a string or an integer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1}"#,
            Missing,
            "",
            "member `method` of JSON-RPC message",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
            Kind,
            "/error/code",
            "an integer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
            Missing,
            "/error",
            "member `message` of Error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
            Duplicate,
            "/id",
            "each member once",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":1}"#,
            Duplicate,
            "/x",
            "each member once",
        ),
        ("[]", Kind, "", "at least one message"),
        ("5", Kind, "", "JSON-RPC message object"),
        (
            r#"[{"jsonrpc":"2.0","method":"m"},[]]"#,
            Kind,
            "/1",
            "JSON-RPC message object",
        ),
    ] {
        assert_eq!(
            refusal(text),
            (kind, pointer.to_owned(), expected.to_owned()),
            "{text}"
        );
    }
    let parts = [
        r#""method":"m""#,
        r#""result":1"#,
        r#""error":{"code":1,"message":""}"#,
    ];
    for (a, b) in [(0, 1), (0, 2), (1, 2), (2, 1)] {
        let text = format!(r#"[{{"jsonrpc":"2.0","id":1,{},{}}}]"#, parts[a], parts[b]);
        let expected = "one of `method`, `result` and `error`".to_owned();
        assert_eq!(refusal(&text), (Conflict, "/0".to_owned(), expected));
    }
}

#[test]
fn writes_messages() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"n","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":null}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no","data":null}}"#,
    ] {
        let message: Message = from_str(text).unwrap();
        assert_eq!(to_string(&message), text);
    }
    let error = ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, "no").with_data(Json::null());
    let text = r#"{"code":-32601,"message":"no","data":null}"#;
    assert_eq!(to_string(&error), text);
}

#[test]
fn batches_pass_through() {
    let text = r#"[{"jsonrpc":"2.0","id":1.0,"method":"m","params":[1, 2],"x":{}},{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"e","data":null,"y":1},"z":2},{"jsonrpc":"2.0","id":3,"result":{ }}]"#;
    let packet: Packet = from_str(text).unwrap();
    assert!(matches!(&packet, Packet::Batch(messages) if messages.len() == 3));
    assert_eq!(to_string(&packet), text);
    let single = r#"{"jsonrpc":"2.0","method":"m"}"#;
    let packet: Packet = from_str(single).unwrap();
    assert!(matches!(&packet, Packet::Single(Message::Notification(_))));
    assert_eq!(to_string(&packet), single);
}

/// A glance says where a wrong id stands, as the reading of the whole does.
#[test]
fn a_glance_at_a_wrong_id_says_where_it_is() {
    for (text, found) in [
        (r#"{"jsonrpc":"2.0","method":"m","id":null}"#, "null"),
        (r#"{"jsonrpc":"2.0","method":"m","id":1.5}"#, "1.5"),
        (r#"{"jsonrpc":"2.0","method":"m","id":true}"#, "true"),
    ] {
        let Err(Unreadable::NotAMessage { error, .. }) = peek(text.as_bytes()) else {
            panic!("{text}");
        };
        assert_eq!(error.pointer(), "/id", "{text}");
        assert_eq!(error.expected(), "a string or an integer", "{text}");
        assert_eq!(error.found(), found, "{text}");
        assert_eq!(error.offset(), text.find(found).unwrap(), "{text}");
    }
}
