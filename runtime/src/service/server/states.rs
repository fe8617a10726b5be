//! The states that the functions of a router share, which its calls carry.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// The states of a router, by their type.
#[derive(Clone, Default)]
pub(in crate::service) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    /// Adds a state. Returns false if it replaces another one of its type.
    pub(in crate::service) fn add<S: Send + Sync + 'static>(&mut self, state: S) -> bool {
        let before = self.0.insert(TypeId::of::<S>(), Arc::new(state));
        before.is_none()
    }

    pub(in crate::service) fn has(&self, kind: TypeId) -> bool {
        self.0.contains_key(&kind)
    }

    pub(in crate::service) fn get<S: Send + Sync + 'static>(&self) -> Option<Arc<S>> {
        let state = self.0.get(&TypeId::of::<S>())?;
        Arc::clone(state).downcast().ok()
    }
}
