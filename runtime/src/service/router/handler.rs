//! Async functions as handlers: of arguments, of a context, of both, or of nothing.

use std::fmt::Display;
use std::marker::PhantomData;
use std::pin::Pin;

use mcp_revisions_core::Latest;

use super::state::{State, StateType};
use crate::errors::abridged;
use crate::service::{Error, RequestContext};

/// Work that is going on.
pub(super) type RouterFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;
/// A handler with its types erased.
pub(super) type BoxedHandler<In, Out> =
    Box<dyn Fn(In, RequestContext<Latest>) -> RouterFuture<Out> + Send + Sync>;

/// Returns work that fails at once: what does not read as the type of the handler.
pub(super) fn failed<T: Send + 'static>(what: String, error: &impl Display) -> RouterFuture<T> {
    let error = Error::InvalidParams(format!("{what}: {}", abridged(error)));
    Box::pin(std::future::ready(Err(error)))
}

/// The shape of a function that takes only a context.
#[derive(Debug)]
pub enum OnlyContext {}

/// An async function that can be registered; `Shape` is what it takes, and is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "expected `async fn()`, `async fn(Arguments)`, `async fn(RequestContext<Latest>)` or `async fn(Arguments, RequestContext<Latest>)`, with `State<S>` before these or without",
    note = "`Arguments` is a struct that implements `serde::Deserialize`, taken by value, and `schemars::JsonSchema` where its schema is derived",
    note = "a function that is not `async` is none, nor is a closure without a future: write `async fn`, or a closure with an `async` block",
    note = "the future of the function must be `Send`: hold no `Rc`, `RefCell` guard or `MutexGuard` across an `.await`"
)]
pub trait Handler<Shape>: Send + Sync + 'static {
    /// The arguments.
    type Arguments: Send + 'static;
    /// The value that it answers with.
    type Answer;

    /// Calls it.
    ///
    /// The future fails if the state that the function takes is not there.
    fn call(
        &self,
        arguments: Self::Arguments,
        cx: RequestContext<Latest>,
    ) -> impl Future<Output = Result<Self::Answer, Error>> + Send + 'static;

    /// Returns the type of the state that it takes, or `None`.
    fn state() -> Option<StateType> {
        None
    }
}

/// A function of these types is a handler of this shape, and with a state before them of the shape with a state; in brackets
/// what it is given, of `arguments` and `cx`.
macro_rules! handles {
    ($shape:ty, $arguments:ty, ($($taken:ty),*), $arg:tt $cx:tt => ($($given:ident),*) $(, $typed:ident)?) => {
        impl<F, W, $($typed)?> Handler<$shape> for F
        where
            F: Fn($($taken),*) -> W + Send + Sync + 'static,
            W: Future + Send + 'static,
            $($typed: serde::de::DeserializeOwned + Send + 'static,)?
        {
            type Arguments = $arguments;
            type Answer = W::Output;

            fn call(
                &self,
                $arg: $arguments,
                $cx: RequestContext<Latest>,
            ) -> impl Future<Output = Result<W::Output, Error>> + Send + 'static {
                let answer = self($($given),*);
                async move { Ok(answer.await) }
            }
        }

        impl<F, W, S, $($typed)?> Handler<WithState<S, $shape>> for F
        where
            F: Fn(State<S>, $($taken),*) -> W + Send + Sync + 'static,
            W: Future + Send + 'static,
            S: Send + Sync + 'static,
            $($typed: serde::de::DeserializeOwned + Send + 'static,)?
        {
            type Arguments = $arguments;
            type Answer = W::Output;

            fn call(
                &self,
                $arg: $arguments,
                context: RequestContext<Latest>,
            ) -> impl Future<Output = Result<W::Output, Error>> + Send + 'static {
                let state = context.state::<S>();
                let $cx = context;
                let answer = state.map(|state| self(State(state), $($given),*));
                async move {
                    match answer {
                        Some(answer) => Ok(answer.await),
                        None => Err(missing(StateType::of::<S>())),
                    }
                }
            }

            fn state() -> Option<StateType> {
                Some(StateType::of::<S>())
            }
        }
    };
}

/// Returns the error of a function whose state was not given, which `build` reports before.
fn missing(state: StateType) -> Error {
    let name = state.name();
    Error::Internal(format!("no state of the type `{name}`: call `with_state`"))
}

/// The shape of a function that takes a state before its other arguments.
#[derive(Debug)]
pub struct WithState<S, Shape>(PhantomData<fn(S) -> Shape>);

handles!((), NoArguments, (), _ _ => ());
handles!(OnlyContext, NoArguments, (RequestContext<Latest>), _ cx => (cx));
handles!((A,), A, (A), arguments _ => (arguments), A);
handles!((A, RequestContext<Latest>), A, (A, RequestContext<Latest>), arguments cx => (arguments, cx), A);

/// The arguments of a function that takes none; those of the request are ignored.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoArguments;

impl<'de> serde::Deserialize<'de> for NoArguments {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(|_| Self)
    }
}
