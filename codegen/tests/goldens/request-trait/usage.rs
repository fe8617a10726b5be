//! A request knows its method, its params and what answers it; the tables list all of them.

use mcp_request_trait::{EchoParams, EchoRequest, EchoResult, METHODS, TYPES, TickNotification};
use mcp_wire::{NoParams, Notification, Request};

/// What any client would do: send the request, read what answers it.
fn call<R: Request>(request: &R, answer: &str) -> (String, R::Result) {
    (
        mcp_wire::to_string(request),
        mcp_wire::from_str(answer).unwrap(),
    )
}

#[test]
fn the_request_says_what_answers_it() {
    let request = EchoRequest::new(EchoParams::new("hi"));
    let (sent, result) = call(&request, r#"{"text":"hi"}"#);
    assert_eq!(sent, r#"{"method":"echo/say","params":{"text":"hi"}}"#);
    assert_eq!(result, EchoResult::new("hi"));
    assert_eq!(EchoRequest::METHOD, "echo/say");
    let none: <TickNotification as Notification>::Params = NoParams::default();
    assert_eq!(mcp_wire::to_string(&none), "{}");
}

#[test]
fn the_tables_list_methods_and_types() {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(names, ["echo/say", "notifications/echo/tick"]);
    let echo = TYPES.iter().find(|row| row.name == "EchoResult").unwrap();
    assert_eq!(
        echo.round_trip(r#"{"text": "x"}"#).unwrap(),
        r#"{"text":"x"}"#
    );
}
