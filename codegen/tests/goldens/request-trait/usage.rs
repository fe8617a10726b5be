//! A request knows its method, its params and what answers it; the tables list all of them, and services are made of them.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mcp_request_trait::{
    CallServer, ClientHandlers, EchoParams, EchoRequest, EchoResult, METHODS, Protocol,
    ServerHandlers, TYPES, TickNotification,
};
use mcp_wire::service::{Caller, ClientSide, ServerSide, Serves};
use mcp_wire::{ErrorObject, Json, NoParams, Notification, Request};

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

/// Answers in capitals.
struct Loud;

impl ServerHandlers<()> for Loud {
    async fn echo(&self, params: EchoParams, (): ()) -> Result<EchoResult, ErrorObject> {
        Ok(EchoResult::new(params.text.to_uppercase()))
    }
}

impl ClientHandlers<()> for Loud {}

/// Carries calls to `Loud`, in the same process.
struct Here;

impl Caller for Here {
    type Protocol = Protocol;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    async fn request(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> Result<Json, Self::Error> {
        let params = params.unwrap_or_default();
        let answer = <Protocol as Serves<ServerSide, _, _>>::request(&Loud, method, &params, ());
        answer.await.map_err(|error| error.message.into())
    }

    async fn notification(&self, _: &'static str, _: Option<Json>) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[test]
fn a_call_reaches_its_handler() {
    let mut call = pin!(Here.echo(EchoParams::new("hi")));
    let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        unreachable!("nothing waits");
    };
    assert_eq!(answer.unwrap(), EchoResult::new("HI"));
}

#[test]
fn what_is_implemented_is_told_without_a_call() {
    assert_eq!(
        <Protocol as Serves<ServerSide, Loud, ()>>::implemented(),
        ["echo/say"]
    );
    assert!(<Protocol as Serves<ClientSide, Loud, ()>>::implemented().is_empty());
}
