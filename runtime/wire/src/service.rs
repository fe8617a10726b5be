//! What generated services rest on: who handles a call, who makes one, and how a method becomes a typed call.
//!
//! Nothing here runs anything: a [`Context`] comes from the server, a [`Caller`] from the connection.

use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task;

use crate::envelope::ErrorObject;
use crate::error::Error;
use crate::json::Json;
use crate::reader::Decode;
use crate::writer::Encode;

/// The context of a call for its handler: the caller, and notifications and requests during the call.
///
/// `()` is the context of handlers that need none.
pub trait Context: Send {
    /// What handlers fail with.
    type Error: From<ErrorObject> + Send;
}

impl Context for () {
    type Error = ErrorObject;
}

/// The side that a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerSide {}

/// The side that a client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSide {}

/// The handlers `H` of one `Side` of a revision, by method; the `Protocol` of each generated crate implements it.
pub trait Serves<Side, H: ?Sized, Cx: Context> {
    /// Answers a request, in the revision's own words.
    ///
    /// # Errors
    /// That of the handler; that there is no such method; that the params are not those of the method.
    fn request(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> impl Future<Output = Result<Json, Cx::Error>> + Send;

    /// Passes a notification to its handler; drops one of an unknown method.
    ///
    /// # Errors
    /// Params that are not those of the method.
    fn notification(
        handlers: &H,
        method: &str,
        params: &Json,
        cx: Cx,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Returns the requests that these handlers answer themselves, not by default.
    fn implemented() -> Vec<&'static str>
    where
        H: Sized + 'static,
        Cx: 'static;
}

/// A connection that sends requests to a peer and returns its responses.
pub trait Caller: Sync {
    /// The revision that it is spoken to in: the `Protocol` of a generated crate.
    type Protocol;
    /// Why there is no result.
    type Error: From<Error> + Send;

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// The peer's error, and any failure before its response arrives.
    fn request(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<Json, Self::Error>> + Send;

    /// Mends a result that is not of the type of its method; refuses it by default.
    ///
    /// # Errors
    /// Why the result could not be read, where nothing helps.
    fn mended(
        &self,
        method: &'static str,
        result: &Json,
        error: Error,
    ) -> Result<Json, Self::Error> {
        let _ = (method, result);
        Err(error.into())
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// Any failure to send it.
    fn notification(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

impl<C: Caller + Send> Caller for &C {
    type Protocol = C::Protocol;
    type Error = C::Error;

    fn request(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<Json, Self::Error>> + Send {
        (**self).request(method, params)
    }

    fn mended(
        &self,
        method: &'static str,
        result: &Json,
        error: Error,
    ) -> Result<Json, Self::Error> {
        (**self).mended(method, result, error)
    }

    fn notification(
        &self,
        method: &'static str,
        params: Option<Json>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        (**self).notification(method, params)
    }
}

/// Makes a typed call. Fails with those of the caller, and a result that is not of the type.
#[doc(hidden)]
pub async fn call<C: Caller, R: Decode + Send>(
    to: &C,
    method: &'static str,
    params: Option<Json>,
) -> Result<R, C::Error> {
    let result = to.request(method, params).await?;
    match result.read() {
        Ok(result) => Ok(result),
        Err(error) => Ok(to.mended(method, &result, error)?.read()?),
    }
}

/// Answers a request by a typed handler. Fails with those of the handler, and params that are not of the type.
#[doc(hidden)]
pub async fn answer<P, R, E, A>(params: &Json, handler: impl FnOnce(P) -> A) -> Result<Json, E>
where
    P: Decode,
    R: Encode,
    E: From<ErrorObject>,
    A: Future<Output = Result<R, E>>,
{
    // Begun before it is waited for: a future keeps room for whatever has a name meanwhile, even if it is gone.
    let result = match params.read() {
        Ok(params) => handler(params),
        Err(error) => return Err(invalid_params(&error).into()),
    }
    .await?;
    Ok(Json::of(&result))
}

/// Hands a notification to a typed handler. Fails for params that are not of the type.
#[doc(hidden)]
pub async fn hand_on<P, A>(params: &Json, handler: impl FnOnce(P) -> A) -> Result<(), Error>
where
    P: Decode,
    A: Future<Output = ()>,
{
    handler(params.read()?).await;
    Ok(())
}

/// Returns the error that answers params which are not those of the method.
pub fn invalid_params(error: &Error) -> ErrorObject {
    ErrorObject::new(ErrorObject::INVALID_PARAMS, error.to_string())
}

/// Returns the error that answers a method which is not there.
pub fn method_not_found(method: &str) -> ErrorObject {
    let shown = crate::shown::cut(method);
    ErrorObject::new(
        ErrorObject::METHOD_NOT_FOUND,
        format!("no method `{shown}`"),
    )
}

/// The answer of a method that is not there; handlers that answer by it count as not implemented.
#[doc(hidden)]
#[derive(Debug)]
pub struct Absent<R, E> {
    method: String,
    answers: PhantomData<fn() -> (R, E)>,
}

/// Answers that there is no such method.
#[doc(hidden)]
pub fn absent<R, E: From<ErrorObject>>(method: &str) -> Absent<R, E> {
    Absent {
        method: method.to_owned(),
        answers: PhantomData,
    }
}

impl<R, E: From<ErrorObject>> Future for Absent<R, E> {
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> task::Poll<Self::Output> {
        task::Poll::Ready(Err(method_not_found(&self.method).into()))
    }
}

/// Returns the method, if the handler is not the default one: recognised by the type of its result, without a call.
#[doc(hidden)]
pub fn implemented<H, P, Cx, A, R, E>(
    method: &'static str,
    _: fn(&'static H, P, Cx) -> A,
) -> Option<&'static str>
where
    A: Future<Output = Result<R, E>> + 'static,
    R: 'static,
    E: From<ErrorObject> + 'static,
{
    (TypeId::of::<A>() != TypeId::of::<Absent<R, E>>()).then_some(method)
}
