//! Async functions as handlers: of arguments, and of values of the context.

use std::fmt::Display;
use std::marker::PhantomData;
use std::pin::Pin;

use mcp_revisions_core::Latest;

#[cfg(doc)]
use super::State;
use super::state::{FromContext, StateType};
use crate::service::{Error, RequestContext};
use mcp_revisions_sansio::errors::abridged;

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

/// An async function that can be registered. `Shape` is the list of its arguments, and is inferred.
///
/// It takes one struct of arguments or none, and before and behind it up to three and two values
/// [of the context](FromContext), in any order: [`RequestContext`], [`State`], [`Extension`](super::Extension) and others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "expected an `async fn` of at most one struct of arguments, and of values of the context: `RequestContext`, `State<S>`, `Extension<T>`, `Principal`",
    note = "the struct of arguments implements `serde::Deserialize`, without a lifetime, taken by value, and `schemars::JsonSchema` where its schema is derived",
    note = "a function that is not `async` is none, nor is a closure without a future: write `async fn`, or a closure with an `async` block",
    note = "a method with `&self` is none: take `State<S>`, and call the method"
)]
pub trait Handler<Shape>: Send + Sync + 'static {
    /// The arguments.
    type Arguments: Send + 'static;
    /// The future of its answer. Registered functions have one that is `Send`: they hold no `Rc`, `RefCell` guard or `MutexGuard`
    /// across an `.await`.
    type Future: Future;

    /// Calls it.
    ///
    /// # Errors
    /// Returns an error if the context lacks a value that the function takes.
    fn call(
        &self,
        arguments: Self::Arguments,
        cx: RequestContext<Latest>,
    ) -> Result<Self::Future, Error>;

    /// Returns the types of the states that it takes.
    fn states() -> Vec<StateType>;
}

/// The shape of a function without arguments of its own, which takes `Values` of the context.
#[derive(Debug)]
pub struct ContextShape<Values>(PhantomData<fn(Values)>);

/// The shape of a function that takes arguments between values of the context.
#[derive(Debug)]
pub struct ArgumentShape<Before, Arguments, After>(PhantomData<fn(Before, Arguments, After)>);

/// Functions of so many values of the context are handlers.
macro_rules! handles_context {
    ($($value:ident)*) => {
        impl<F, W, $($value),*> Handler<ContextShape<($($value,)*)>> for F
        where
            F: Fn($($value),*) -> W + Send + Sync + 'static,
            W: Future,
            $($value: FromContext,)*
        {
            type Arguments = NoArguments;
            type Future = W;

            fn call(&self, _: NoArguments, _cx: RequestContext<Latest>) -> Result<W, Error> {
                Ok(self($($value::from_context(&_cx)?),*))
            }

            fn states() -> Vec<StateType> {
                let states: &[Option<StateType>] = &[$($value::state()),*];
                states.iter().copied().flatten().collect()
            }
        }
    };
}

/// Functions of so many values of the context before their arguments, and so many behind them, are handlers.
macro_rules! handles_arguments {
    ($($before:ident)*, $($after:ident)*) => {
        impl<F, W, A, $($before,)* $($after),*> Handler<ArgumentShape<($($before,)*), A, ($($after,)*)>> for F
        where
            F: Fn($($before,)* A, $($after),*) -> W + Send + Sync + 'static,
            W: Future,
            A: serde::de::DeserializeOwned + Send + 'static,
            $($before: FromContext,)*
            $($after: FromContext,)*
        {
            type Arguments = A;
            type Future = W;

            fn call(&self, arguments: A, _cx: RequestContext<Latest>) -> Result<W, Error> {
                Ok(self(
                    $($before::from_context(&_cx)?,)*
                    arguments,
                    $($after::from_context(&_cx)?),*
                ))
            }

            fn states() -> Vec<StateType> {
                let states: &[Option<StateType>] = &[$($before::state(),)* $($after::state()),*];
                states.iter().copied().flatten().collect()
            }
        }
    };
}

handles_context!();
handles_context!(V1);
handles_context!(V1 V2);
handles_context!(V1 V2 V3);
handles_context!(V1 V2 V3 V4);
handles_context!(V1 V2 V3 V4 V5);
handles_arguments!(,);
handles_arguments!(, N1);
handles_arguments!(, N1 N2);
handles_arguments!(V1,);
handles_arguments!(V1, N1);
handles_arguments!(V1, N1 N2);
handles_arguments!(V1 V2,);
handles_arguments!(V1 V2, N1);
handles_arguments!(V1 V2, N1 N2);
handles_arguments!(V1 V2 V3,);
handles_arguments!(V1 V2 V3, N1);
handles_arguments!(V1 V2 V3, N1 N2);

/// The arguments of a function that is called without any.
#[diagnostic::on_unimplemented(
    message = "a function that takes `{Self}` is called without arguments here",
    label = "take no struct of arguments",
    note = "`Router::resource` is for one URI: use `Router::resource_template` for a resource whose URI has variables"
)]
pub trait WithoutArguments: From<NoArguments> + Send + 'static {}

impl WithoutArguments for NoArguments {}

/// The arguments of a function that takes none; those of the request are ignored.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoArguments;

impl<'de> serde::Deserialize<'de> for NoArguments {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(|_| Self)
    }
}
