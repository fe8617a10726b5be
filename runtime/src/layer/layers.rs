//! The layers of one server, client or bridge, and the way of a message through them.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use mcp_wire::{ErrorObject, Json};
use tokio::sync::Semaphore;

use super::message::{LayerFn, LayerMessage, RemainingLayers};
use crate::transport::observe;
use crate::transport::panics::{caught, lock};
use crate::transport::spawn::{Boxed, boxed, spawn_if_possible};

/// Maximum number of bytes of notifications that wait in layers; further ones are dropped.
const ROOM: u32 = 1 << 20;

/// Number of bytes of a notification besides its params.
const EACH: usize = 1 << 10;

/// The layers of one server, client or bridge, the outermost first; clones share them.
#[derive(Clone, Default)]
pub struct Layers(Option<Arc<Stack>>);

#[derive(Clone)]
struct Stack {
    layers: Arc<Vec<Arc<LayerFn>>>,
    room: Arc<Semaphore>,
}

impl Layers {
    /// Adds a layer within the others.
    pub fn add<F, A>(&mut self, layer: F)
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        let stack = self.0.get_or_insert_with(|| {
            Arc::new(Stack {
                layers: Arc::default(),
                room: Arc::new(Semaphore::new(ROOM as usize)),
            })
        });
        Arc::make_mut(&mut Arc::make_mut(stack).layers)
            .push(Arc::new(move |message| boxed(layer(message))));
    }

    /// Adds these layers within the others.
    pub fn append(&mut self, inner: &Self) {
        match (&mut self.0, &inner.0) {
            (Some(own), Some(inner)) => {
                let own = Arc::make_mut(&mut Arc::make_mut(own).layers);
                own.extend(inner.layers.iter().map(Arc::clone));
            }
            (None, Some(_)) => self.0.clone_from(&inner.0),
            (_, None) => {}
        }
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Passes a request through the layers, to `last`, which is called each time that the innermost layer forwards it.
    pub(crate) fn run<A>(
        &self,
        message: LayerMessage,
        last: impl Fn(LayerMessage) -> A + Send + Sync + 'static,
    ) -> Boxed<'static, Result<Json, ErrorObject>>
    where
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        match &self.0 {
            Some(stack) => {
                let last = Arc::new(move |message| boxed(last(message)));
                let layers = RemainingLayers::all(&stack.layers, last);
                // No layer runs before this is polled: a panic of any of its code is caught there.
                boxed(async move { layers.run(message).await })
            }
            None => boxed(last(message)),
        }
    }

    /// Passes a notification through the layers, and returns its params as they forward them; `None` if one does not.
    #[inline(never)]
    pub(crate) fn pass(&self, message: LayerMessage) -> Boxed<'static, Option<Json>> {
        let forwarded = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&forwarded);
        let run = self.run(message, move |message| {
            *lock(&kept) = Some(message.into_params());
            std::future::ready(Ok(Json::default()))
        });
        boxed(async move {
            caught(run).await.ok()?;
            lock(&forwarded).take()
        })
    }

    /// Passes a notification through the layers, and then to `last`, at once if no layer waits for something. Returns what
    /// `last` returns; `None` if a layer waits, does not forward the notification, or if too many wait, and it is dropped.
    pub(crate) fn pass_soon<T>(
        &self,
        message: LayerMessage,
        last: impl FnOnce(Json) -> T + Send + 'static,
    ) -> Option<T> {
        let bytes = message.params().text().len().saturating_add(EACH);
        let method = message.method().to_owned();
        let mut passed = self.pass(message);
        match passed
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(params) => params.map(last),
            Poll::Pending => {
                let room = Arc::clone(&self.0.as_ref()?.room);
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                let Ok(permit) = room.try_acquire_many_owned(bytes) else {
                    observe::notification_dropped(&method);
                    return None;
                };
                spawn_if_possible(async move {
                    let _permit = permit;
                    if let Some(params) = passed.await {
                        last(params);
                    }
                });
                None
            }
        }
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers = self.0.as_ref().map_or(0, |stack| stack.layers.len());
        f.debug_tuple("Layers").field(&layers).finish()
    }
}
