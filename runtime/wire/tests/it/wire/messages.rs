//! Messages of a method: what is read, what is refused, and what is written back.

use mcp_wire::{
    BareOf, ErrorKind, Json, JsonObject, NotificationOf, Request, RequestOf, ResponseOf, TypeInfo,
    from_str, to_string,
};

mcp_wire::method! { SayMethod "say" required JsonObject => Json }
mcp_wire::method! { ListMethod "list" optional JsonObject => Json }
mcp_wire::method! { SaidMethod "said" optional JsonObject }

fn refusal<T: mcp_wire::Decode>(text: &str) -> (ErrorKind, String) {
    let error = from_str::<T>(text).err().unwrap();
    (error.kind(), error.expected().to_owned())
}

#[test]
fn messages_are_written_as_they_were_read_with_what_they_do_not_know() {
    let request = r#"{"jsonrpc":"2.0","method":"say","id":1,"params":{"a": 1},"x":[1.50]}"#;
    let read: RequestOf<SayMethod> = from_str(request).unwrap();
    assert_eq!((&read.id, read.params.text()), (&1.into(), r#"{"a": 1}"#));
    assert_eq!(to_string(&read), request);
    let bare = r#"{"method":"list","x":null}"#;
    let read: BareOf<ListMethod> = from_str(bare).unwrap();
    assert_eq!(read.params, None);
    assert_eq!(to_string(&read), bare);
    let response = r#"{"jsonrpc":"2.0","id":"7","result":[],"x":0}"#;
    let read: ResponseOf<RequestOf<SayMethod>> = from_str(response).unwrap();
    assert_eq!(to_string(&read), response);
    let text = serde_json::to_string(&read).unwrap();
    assert_eq!(
        serde_json::from_str::<ResponseOf<RequestOf<SayMethod>>>(&text).unwrap(),
        read
    );
}

#[test]
fn messages_of_another_method_or_without_what_they_need_are_refused() {
    let other = r#"{"jsonrpc":"2.0","method":"list","id":1,"params":{}}"#;
    let constant = |value: &str| (ErrorKind::Constant, format!("{value:?}"));
    assert_eq!(refusal::<RequestOf<SayMethod>>(other), constant("say"));
    let version = r#"{"jsonrpc":"1.0","method":"said"}"#;
    assert_eq!(
        refusal::<NotificationOf<SaidMethod>>(version),
        constant("2.0")
    );
    let missing =
        |member: &str, of: &str| (ErrorKind::Missing, format!("member `{member}` of {of}"));
    let bare = r#"{"jsonrpc":"2.0","method":"say","id":1}"#;
    assert_eq!(
        refusal::<RequestOf<SayMethod>>(bare),
        missing("params", "say")
    );
    let unnumbered = r#"{"jsonrpc":"2.0","method":"list"}"#;
    assert_eq!(
        refusal::<RequestOf<ListMethod>>(unnumbered),
        missing("id", "list")
    );
    let empty = r#"{"jsonrpc":"2.0","id":1}"#;
    let of_response = refusal::<ResponseOf<RequestOf<SayMethod>>>(empty);
    assert_eq!(of_response, missing("result", "response"));
}

#[test]
fn constructors_take_params_or_leave_them_out() {
    let params = JsonObject::from_text(r#"{"a":1}"#).unwrap();
    let with = RequestOf::<ListMethod>::new(1, params.clone());
    assert_eq!(with.params, Some(params.clone()));
    let without = NotificationOf::<SaidMethod>::without_params();
    assert_eq!(to_string(&without), r#"{"jsonrpc":"2.0","method":"said"}"#);
    assert_eq!(
        to_string(&BareOf::<SayMethod>::new(params)),
        r#"{"method":"say","params":{"a":1}}"#
    );
    assert_eq!(<RequestOf<SayMethod> as Request>::METHOD, "say");
}

#[test]
fn a_type_is_found_by_the_name_of_its_definition_and_by_that_in_rust() {
    let types = [
        TypeInfo::of::<Json>("json", "Value"),
        TypeInfo::of::<JsonObject>("object", "Members"),
    ];
    for (name, definition) in [
        ("json", Some("json")),
        ("Members", Some("object")),
        ("Value", Some("json")),
        ("Nothing", None),
    ] {
        let found = TypeInfo::find(&types, name);
        assert_eq!(found.map(|row| row.name), definition, "{name}");
    }
}
