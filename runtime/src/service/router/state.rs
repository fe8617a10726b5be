//! State that the functions of a router share, each type of it once.

use std::any::{TypeId, type_name};
use std::ops::Deref;
use std::sync::Arc;

use super::Router;

/// The state that [`Router::with_state`] was given, as the first argument of a function.
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
    /// Gives functions that begin with an argument [`State<S>`] this state. Several states differ in their type; `build` reports
    /// a function whose state is missing, and a second state of one type.
    #[must_use]
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

    /// Notes which state a function takes, to be checked once all are given.
    pub(super) fn takes(&mut self, what: String, state: Option<StateType>) {
        if let Some(state) = state {
            self.wanted_states.push((what, state));
        }
    }
}
