//! All revisions in one program: their values side by side, what every value can do, and the way through serde_json.

use mcp_revisions_core::{
    Revision, draft, v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28,
    v2026_07_28_rc,
};
use std::fmt::Debug;

use crate::runtime::Voice;
use mcp_wire::{Decode, Direction, Encode, MethodKind, Notification, Request};
use serde_json::{Value, json};

/// What every generated type promises.
fn promises<T: Debug + Clone + PartialEq + Send + Sync + Decode + Encode + 'static>() {}

/// A call and its answer, a notification, and whatever comes, in one revision.
macro_rules! promised {
    ($($revision:ident: $($name:ident)*;)*) => {$(
        $(promises::<$revision::$name>();)*
    )*};
}

#[test]
fn every_type_can_be_shown_copied_compared_and_sent_to_another_thread() {
    promised! {
        v2024_11_05: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolResult ContentBlock LoggingLevel Cursor ProgressToken Annotations;
        v2025_03_26: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolResult ContentBlock JsonRpcBatchRequest ToolAnnotations;
        v2025_06_18: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolResult ContentBlock ElicitRequest PrimitiveSchemaDefinition;
        v2025_11_25: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolOutcome ContentBlock ElicitRequestParams Task EnumSchema Icon;
        v2026_07_28_rc: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolOutcome ContentBlock InputRequest DiscoverResult;
        v2026_07_28: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolOutcome ContentBlock InputRequest DiscoverResult RequestMetaObject;
        draft: JsonRpcMessage ClientRequest ServerNotification ServerResult Tool CallToolOutcome ContentBlock InputRequest DiscoverResult;
    }
    promises::<mcp_wire::Json>();
    promises::<mcp_wire::ErrorObject>();
}

/// A tool in the words of each revision, made by its constructor.
macro_rules! tools {
    ($($revision:ident)*) => {
        vec![$({
            let schema = mcp_wire::JsonObject::from_text(r#"{"type":"object"}"#).unwrap();
            let tool = $revision::Tool::new("add", schema).with_description("Adds.");
            assert_eq!(tool, tool.clone());
            let text = mcp_wire::to_string(&tool);
            assert_eq!(mcp_wire::from_str::<$revision::Tool>(&text).unwrap(), tool);
            (stringify!($revision), text)
        }),*]
    };
}

#[test]
fn a_value_of_each_revision_lives_in_one_program() {
    let texts = tools! {
        v2024_11_05 v2025_03_26 v2025_06_18 v2025_11_25 v2026_07_28_rc v2026_07_28 draft
    };
    // All say it in the same words, to the byte.
    for (revision, text) in texts {
        assert_eq!(
            text, r#"{"description":"Adds.","inputSchema":{"type":"object"},"name":"add"}"#,
            "{revision}"
        );
    }
}

#[test]
fn a_type_is_one_for_the_revisions_that_have_it_alike_and_another_for_those_that_differ() {
    let id = std::any::TypeId::of::<v2026_07_28::Tool>();
    assert_ne!(id, std::any::TypeId::of::<v2025_11_25::Tool>());
    assert_eq!(id, std::any::TypeId::of::<v2026_07_28_rc::Tool>());
    // What is alike passes as it is: no conversion is asked for.
    let hint = v2026_07_28::ModelHint::new().with_name("any");
    let older: v2024_11_05::ModelHint = hint;
    assert_eq!(older.name.as_deref(), Some("any"));
    assert_eq!(
        id == std::any::TypeId::of::<draft::Tool>(),
        Revision::Draft.same_types(Revision::V2026_07_28),
        "the draft is the release as long as it says the same"
    );
    assert_eq!(
        (draft::REVISION, draft::PROTOCOL_VERSION),
        ("draft", Revision::Draft.protocol_version())
    );
}

/// Reads samples of what the table says of a request's method, as its params and its result: both are written as they were.
fn tied<R: Request>(id: &str) {
    let voice = Voice::new(crate::specs::models().get(id).unwrap());
    let mut rows = voice.rows(Direction::ClientToServer, MethodKind::Request);
    let row = rows.find(|row| row.name == R::METHOD).unwrap();
    let written = |texts: Vec<String>, as_written: fn(&str) -> String| {
        assert!(!texts.is_empty(), "{id}: no samples of {}", R::METHOD);
        for text in texts {
            let same = mcp_tests::text::same(&text, &as_written(&text));
            assert!(same, "{id}: {text}\nis written as\n{}", as_written(&text));
        }
    };
    written(voice.samples(row.params, "params"), |text| {
        mcp_wire::to_string(&mcp_wire::from_str::<R::Params>(text).unwrap())
    });
    written(voice.samples(row.result, "result"), |text| {
        mcp_wire::to_string(&mcp_wire::from_str::<R::Result>(text).unwrap())
    });
}

#[test]
fn requests_tie_their_method_to_params_and_result() {
    macro_rules! tied {
        ($($revision:ident)*) => {
            $(tied::<$revision::CallToolRequest>($revision::REVISION);)*
        };
    }
    tied!(v2024_11_05 v2025_03_26 v2025_06_18 v2025_11_25 v2026_07_28_rc v2026_07_28 draft);
    fn method<N: Notification>() -> &'static str {
        N::METHOD
    }
    assert_eq!(
        method::<v2025_11_25::TaskStatusNotification>(),
        "notifications/tasks/status"
    );
}

/// Through serde_json and back: the text, and a `Value`.
fn through_serde<T>(text: &str)
where
    T: Debug + PartialEq + Decode + serde::Serialize + for<'de> serde::Deserialize<'de>,
{
    let ours: T = mcp_wire::from_str(text).unwrap();
    let theirs: T = serde_json::from_str(text).unwrap();
    assert_eq!(ours, theirs);
    let written = serde_json::to_string(&theirs).unwrap();
    assert!(
        mcp_tests::text::same(text, &written),
        "{text}\nis written as\n{written}"
    );
    let value: Value = serde_json::to_value(&theirs).unwrap();
    assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(serde_json::from_value::<T>(value).unwrap(), theirs);
    // Inside a type of the user's own.
    let list: Vec<Option<T>> = serde_json::from_str(&format!("[null,{text}]")).unwrap();
    assert_eq!(list[1].as_ref(), Some(&theirs));
}

#[test]
fn values_go_through_serde_json() {
    let tool = r#"{"name":"add","inputSchema":{"type":"object","x":1.50},"vendor":[1e2]}"#;
    through_serde::<v2024_11_05::Tool>(tool);
    through_serde::<v2025_03_26::Tool>(tool);
    through_serde::<v2025_06_18::Tool>(tool);
    through_serde::<v2025_11_25::Tool>(tool);
    through_serde::<v2026_07_28_rc::Tool>(tool);
    through_serde::<v2026_07_28::Tool>(tool);
    through_serde::<draft::Tool>(tool);
    through_serde::<v2025_11_25::ContentBlock>(r#"{"type":"text","text":"a"}"#);
    through_serde::<v2025_11_25::LoggingLevel>(r#""warning""#);
    through_serde::<v2025_11_25::ProgressToken>("50.0");
    through_serde::<v2025_03_26::JsonRpcMessage>(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    through_serde::<mcp_wire::Json>(r#"{"a":[1.0,null]}"#);
    let error = serde_json::from_value::<v2025_11_25::Tool>(json!({ "name": 5 })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at /name: expected a string, found 5 (line 1, column 9)"
    );
}
