//! Which sort of message a text is.

use mcp_wire::{
    ErrorKind, ErrorObject, Json, MessageKind, Raw, RawId, Unreadable, from_str, peek, to_string,
};

fn refusal(text: &str) -> (ErrorKind, String, String) {
    let (Unreadable::NotJson(error) | Unreadable::NotAMessage { error, .. }) =
        peek(text.as_bytes()).unwrap_err();
    (
        error.kind(),
        error.pointer().to_owned(),
        error.expected().to_owned(),
    )
}

#[test]
fn an_error_that_answers_no_id_has_null_in_its_place() {
    let error = ErrorObject::new(ErrorObject::INVALID_REQUEST, "an id of another kind");
    let text = mcp_wire::envelope::write::error(None, &error);
    let begin = r#"{"jsonrpc":"2.0","id":null,"error":{"#;
    assert!(text.starts_with(begin), "{text}");
}

#[test]
fn tells_messages_apart() {
    let read = |text: &'static str| peek(text.as_bytes()).unwrap();
    let request = read(r#"{"params":{"a": 1},"x":0,"method":"m","id":"7","jsonrpc":"2.0"}"#);
    assert_eq!(request.kind, MessageKind::Request);
    assert_eq!(request.id.and_then(RawId::to_id), Some("7".into()));
    assert_eq!(request.method.as_deref(), Some("m"));
    assert_eq!(request.params.map(Raw::text), Some(r#"{"a": 1}"#));
    let notification = read(r#"{"jsonrpc":"2.0","method":"m","params":null}"#);
    assert_eq!(notification.kind, MessageKind::Notification);
    assert_eq!(notification.params, None);
    let response = read(r#"{"jsonrpc":"2.0","id":1,"result":null,"params":[]}"#);
    assert_eq!(response.kind, MessageKind::Response);
    assert_eq!(response.id.and_then(RawId::to_id), Some(1.into()));
    assert_eq!(response.result.map(Raw::text), Some("null"));
    for text in [
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
    ] {
        let error = read(text);
        assert_eq!((error.kind, error.id), (MessageKind::Error, None));
    }
    // Some write each member of all messages.
    for (text, kind) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}"#,
            MessageKind::Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":null}"#,
            MessageKind::Request,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
            MessageKind::Response,
        ),
    ] {
        let message = read(text);
        assert_eq!(message.kind, kind, "{text}");
        assert_eq!(message.result.is_some(), kind == MessageKind::Response);
    }
}

#[test]
fn refuses_what_is_no_message() {
    use ErrorKind::*;
    let is_refused = |text: &str, kind, pointer: &str, expected: &str| {
        let expected = (kind, pointer.to_owned(), expected.to_owned());
        assert_eq!(refusal(text), expected, "{text}");
    };
    let no_version = "member `jsonrpc` of JSON-RPC message";
    is_refused(r#"{"id":1,"method":"m"}"#, Missing, "", no_version);
    is_refused("5", Kind, "", "JSON-RPC message object");
    for version in [r#""1.0""#, "2.0"] {
        let text = format!(r#"{{"jsonrpc":{version},"id":1,"method":"m"}}"#);
        is_refused(&text, Constant, "/jsonrpc", "\"2.0\"");
    }
    for (members, kind, pointer, expected) in [
        (
            r#""id":null,"method":"m""#,
            Kind,
            "/id",
            "a string or an integer",
        ),
        (
            r#""id":1.5,"method":"m""#,
            Kind,
            "/id",
            "a string or an integer",
        ),
        (r#""id":1,"method":null"#, Kind, "/method", "a string"),
        (
            r#""id":1,"method":"m","params":5"#,
            Kind,
            "/params",
            "an object or an array",
        ),
        (
            r#""result":{}"#,
            Missing,
            "",
            "member `id` of JSON-RPC message",
        ),
        (
            r#""id":1"#,
            Missing,
            "",
            "member `method` of JSON-RPC message",
        ),
        (
            r#""id":1,"id":1,"method":"m""#,
            Duplicate,
            "/id",
            "each member once",
        ),
    ] {
        is_refused(
            &format!(r#"{{"jsonrpc":"2.0",{members}}}"#),
            kind,
            pointer,
            expected,
        );
    }
    let parts = [
        r#""method":"m""#,
        r#""result":1"#,
        r#""error":{"code":1,"message":""}"#,
    ];
    for (a, b) in [(0, 1), (0, 2), (1, 2), (2, 1)] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,{},{}}}"#, parts[a], parts[b]);
        let expected = "one of `method`, `result` and `error`".to_owned();
        assert_eq!(refusal(&text), (Conflict, String::new(), expected));
    }
}

#[test]
fn an_error_is_a_code_and_a_message() {
    let error = ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, "no").with_data(Json::null());
    let text = r#"{"code":-32601,"message":"no","data":null,"y":1.0}"#;
    let read: ErrorObject = from_str(text).unwrap();
    assert_eq!(
        (&read.code, &read.message, &read.data),
        (&error.code, &error.message, &error.data)
    );
    assert_eq!(to_string(&read), text);
    for (text, pointer, expected) in [
        (r#"{"code":1.5,"message":""}"#, "/code", "an integer"),
        (r#"{"code":1}"#, "", "member `message` of ErrorObject"),
    ] {
        let error = from_str::<ErrorObject>(text).unwrap_err();
        assert_eq!((error.pointer(), error.expected()), (pointer, expected));
    }
}

#[test]
fn a_batch_has_the_messages_of_its_text() {
    let one = r#"{"jsonrpc":"2.0","id":1.0,"method":"m","params":[1, 2],"x":{}}"#;
    let other = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"e"}}"#;
    let text = format!("[{one} ,\n{other}]");
    let batch = peek(text.as_bytes()).unwrap();
    assert_eq!(batch.kind, MessageKind::Batch);
    assert_eq!(batch.elements().collect::<Vec<_>>(), [one, other]);
    assert_eq!(peek(one.as_bytes()).unwrap().elements().count(), 0);
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
