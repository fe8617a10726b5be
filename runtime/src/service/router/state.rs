//! Values that functions take of the context: the state that they share, each type of it once, and values of the request.

use std::any::{TypeId, type_name};
use std::ops::Deref;
use std::sync::Arc;

use mcp_revisions_core::Latest;

use super::Router;
use crate::serve::{Peer, Principal, Session};
use crate::service::{Error, RequestContext};

/// A value that a function takes from the context of its call, beside its arguments.
///
/// ```
/// # use mcp_revisions::service::router::{FromContext, Router};
/// # use mcp_revisions::service::{Error, RequestContext};
/// /// The name that the client has for itself.
/// struct ClientName(String);
///
/// impl FromContext for ClientName {
///     fn from_context(cx: &RequestContext) -> Result<Self, Error> {
///         let name = cx.client().and_then(|client| client.info.as_ref()?.get("name"));
///         let name = name.and_then(|name| Some(name.as_str()?.into_owned()));
///         name.map(Self).ok_or_else(|| Error::internal("the client has no name"))
///     }
/// }
///
/// let router = Router::new().tool("who", "Names the client.", |ClientName(name): ClientName| async { name });
/// # let _ = router;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of the context",
    label = "implement `FromContext` for it"
)]
pub trait FromContext: Sized + Send + 'static {
    /// Takes it.
    ///
    /// # Errors
    /// Returns an error if the context lacks it, which answers the call.
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error>;

    /// Returns the type of the state that it is, which `build` looks for; `None` for all else.
    fn state() -> Option<StateType> {
        None
    }
}

impl FromContext for RequestContext<Latest> {
    fn from_context(cx: &Self) -> Result<Self, Error> {
        Ok(cx.clone())
    }
}

impl<S: Send + Sync + 'static> FromContext for State<S> {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        cx.state().map(Self).ok_or_else(|| {
            let name = type_name::<S>();
            Error::Internal(format!("no state of the type `{name}`: call `with_state`"))
        })
    }

    fn state() -> Option<StateType> {
        Some(StateType::of::<S>())
    }
}

/// A value that a layer around the HTTP service has inserted into the extensions of the request. There is none over stdio: take
/// `Option<Extension<T>>` where a server has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromContext for Extension<T> {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        let found = cx.extension::<T>().cloned();
        found.map(Self).ok_or_else(|| {
            let name = type_name::<T>();
            Error::Internal(format!(
                "no extension of the type `{name}`: let a layer insert it into the request"
            ))
        })
    }
}

/// `None` if the context lacks the value.
impl<T: FromContext> FromContext for Option<T> {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        Ok(T::from_context(cx).ok())
    }

    fn state() -> Option<StateType> {
        None
    }
}

/// The principal of the call. There is none over stdio: take `Option<Principal>` where a server has both.
impl FromContext for Principal {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        cx.principal().ok_or_else(|| {
            let why = "the call has no principal: let a guard or a layer authenticate it";
            Error::Internal(why.to_owned())
        })
    }
}

impl FromContext for Peer {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        let peer = cx.peer().cloned();
        peer.ok_or_else(|| Error::internal("a notification has no peer to ask"))
    }
}

impl FromContext for Session {
    fn from_context(cx: &RequestContext<Latest>) -> Result<Self, Error> {
        Ok(cx.session().clone())
    }
}

/// The state that [`Router::with_state`] was given, as an argument of a function.
///
/// ```
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # use mcp_revisions::service::router::{Router, State};
/// async fn count(calls: State<AtomicU64>) -> u64 {
///     calls.fetch_add(1, Ordering::Relaxed)
/// }
///
/// let router = Router::new().with_state(AtomicU64::new(0)).tool("count", "Counts its calls.", count);
/// # let _ = router;
/// ```
#[derive(Debug)]
pub struct State<S>(pub Arc<S>);

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// The type of a state, and its name for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateType {
    id: TypeId,
    name: &'static str,
}

impl StateType {
    pub(super) fn of<S: 'static>() -> Self {
        Self {
            id: TypeId::of::<S>(),
            name: type_name::<S>(),
        }
    }

    pub(super) fn id(self) -> TypeId {
        self.id
    }

    pub(super) fn name(self) -> &'static str {
        self.name
    }
}

impl Router {
    /// Gives functions with an argument [`State<S>`] this state. Several states differ in their type; `build` reports
    /// a function whose state is missing, and a second state of one type.
    pub fn with_state<S: Send + Sync + 'static>(mut self, state: S) -> Self {
        let kind = StateType::of::<S>();
        if !Arc::make_mut(&mut self.states).add(state) {
            let name = kind.name;
            self.problems.push(format!(
                "two states are of the type `{name}`: keep one of them, or wrap one in a type of its own"
            ));
        }
        self
    }

    /// Notes which states a function takes, to be checked once all are given.
    pub(super) fn takes(&mut self, what: &str, states: Vec<StateType>) {
        let wanted = states.into_iter().map(|state| (what.to_owned(), state));
        self.wanted_states.extend(wanted);
    }
}
