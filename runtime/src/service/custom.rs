//! Methods that no revision has, those of an extension or a vendor: who handles them.

use std::pin::Pin;
use std::sync::Arc;

use mcp_wire::{Json, Map};

use super::Error;

/// The result of a custom request, on its way.
pub(super) type CustomResult = Pin<Box<dyn Future<Output = Result<Json, Error>> + Send>>;

type CustomHandler<C> = Arc<dyn Fn(Json, C) -> CustomResult + Send + Sync>;

/// The handlers of custom methods, by name; `C` is the context of a call.
pub(super) struct Custom<C> {
    requests: Map<CustomHandler<C>>,
    notifications: Map<CustomHandler<C>>,
}

impl<C> Default for Custom<C> {
    fn default() -> Self {
        Self {
            requests: Map::new(),
            notifications: Map::new(),
        }
    }
}

impl<C> std::fmt::Debug for Custom<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names =
            |of: &Map<CustomHandler<C>>| of.iter().map(|(name, _)| name.to_owned()).collect();
        let (requests, notifications): (Vec<_>, Vec<_>) =
            (names(&self.requests), names(&self.notifications));
        f.debug_struct("Custom")
            .field("requests", &requests)
            .field("notifications", &notifications)
            .finish()
    }
}

impl<C> Custom<C> {
    pub(super) fn add_request<F, A>(&mut self, method: impl Into<String>, handler: F)
    where
        F: Fn(Json, C) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, Error>> + Send + 'static,
    {
        let handler: CustomHandler<C> = Arc::new(move |params, cx| Box::pin(handler(params, cx)));
        self.requests.insert(method, handler);
    }

    pub(super) fn add_notification<F, A>(&mut self, method: impl Into<String>, handler: F)
    where
        F: Fn(Json, C) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let handler: CustomHandler<C> = Arc::new(move |params, cx| {
            let noted = handler(params, cx);
            Box::pin(async move {
                noted.await;
                Ok(Json::default())
            })
        });
        self.notifications.insert(method, handler);
    }

    /// Calls the handler of a request; `None` if the method has none.
    pub(super) fn request(&self, method: &str, params: Json, cx: C) -> Option<CustomResult> {
        let handler = self.requests.get(method)?;
        Some(handler(params, cx))
    }

    /// Calls the handler of a notification; `None` if the method has none.
    pub(super) fn notification(&self, method: &str, params: Json, cx: C) -> Option<CustomResult> {
        let handler = self.notifications.get(method)?;
        Some(handler(params, cx))
    }
}
