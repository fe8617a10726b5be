//! Hooks of an application around the calls of clients: see, change, answer or refuse them, and hide tools.

use std::fmt;
use std::sync::Arc;

use mcp_revisions::sansio::server::{Caller, IncomingRequest};
use mcp_revisions::serve::Peer;
use mcp_revisions::{Boxed, boxed, errors, methods};
use mcp_revisions_core::Revision;
use mcp_revisions_core::errors::shortened;
use mcp_wire::{ErrorObject, Json, JsonObject, Map};

use crate::Proxy;
use crate::link::Rewrite;

/// A request of a client, before the upstream server is sent it; see [`Bridge::with_call_hook`](crate::Bridge::with_call_hook).
///
/// [`method`](Self::method), [`params`](Self::params) and the result of [`forward`](Self::forward) are of the revision
/// [`app`](Self::app), whichever revision the client speaks.
#[derive(Debug)]
pub struct ClientCall {
    request: IncomingRequest,
    peer: Peer,
    proxy: Proxy,
    /// The changes of notifications about it in a gateway.
    rewrite: Option<Rewrite>,
}

impl ClientCall {
    pub(crate) fn new(request: IncomingRequest, peer: Peer, proxy: Proxy) -> Self {
        Self {
            request,
            peer,
            proxy,
            rewrite: None,
        }
    }

    pub(crate) fn with_rewrite(mut self, rewrite: Option<Rewrite>) -> Self {
        self.rewrite = rewrite;
        self
    }

    /// Returns the method, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.request.method
    }

    /// Returns the params; `{}` if the client sent none.
    #[must_use]
    pub fn params(&self) -> &Json {
        &self.request.params
    }

    /// Replaces the params.
    #[must_use]
    pub fn with_params(mut self, params: Json) -> Self {
        self.request.params = params;
        self
    }

    /// Returns the revision of method, params and result: the one that is spoken with the upstream server.
    #[must_use]
    pub fn app(&self) -> Revision {
        self.proxy.revision()
    }

    /// Returns the revision that the client speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.request.peer
    }

    /// Returns the name and the capabilities of the client.
    #[must_use]
    pub fn client(&self) -> &Caller {
        &self.request.caller
    }

    /// Returns the peer that sent the request, with its HTTP headers and extensions.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Sends the request to the upstream server, and returns its result.
    ///
    /// # Errors
    /// The error of the upstream server, or why it has not answered.
    pub async fn forward(self) -> Result<Json, ErrorObject> {
        self.proxy.pass(self.request, self.peer, self.rewrite).await
    }
}

type CallFn = dyn Fn(ClientCall) -> Boxed<'static, Result<Json, ErrorObject>> + Send + Sync;
type FilterFn = dyn Fn(&str, &Peer) -> bool + Send + Sync;

/// The hooks of a bridge.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    call: Option<Arc<CallFn>>,
    filter: Option<Arc<FilterFn>>,
}

impl Hooks {
    /// Sets the hook around each call.
    pub(crate) fn set_call<F, A>(&mut self, hook: F)
    where
        F: Fn(ClientCall) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        self.call = Some(Arc::new(move |call| boxed(hook(call))));
    }

    /// Sets which tools clients see.
    pub(crate) fn set_filter(
        &mut self,
        admits: impl Fn(&str, &Peer) -> bool + Send + Sync + 'static,
    ) {
        self.filter = Some(Arc::new(admits));
    }

    /// Answers a call by the call hook; without one the call is forwarded.
    pub(crate) async fn call(&self, call: ClientCall) -> Result<Json, ErrorObject> {
        match &self.call {
            Some(hook) => hook(call).await,
            None => call.forward().await,
        }
    }

    /// Refuses a call of a tool that its client does not see, as one of a tool that there is not.
    pub(crate) fn admit(
        &self,
        method: &str,
        params: &Json,
        peer: &Peer,
    ) -> Result<(), ErrorObject> {
        let Some(admits) = self
            .filter
            .as_ref()
            .filter(|_| method == methods::TOOLS_CALL)
        else {
            return Ok(());
        };
        // A call without a name is the upstream server's to refuse.
        match params
            .get("name")
            .and_then(|name| name.read::<String>().ok())
        {
            Some(name) if !admits(&name, peer) => {
                let why = format!("no tool `{}`", shortened(&name));
                Err(errors::invalid_params(&why).error)
            }
            _ => Ok(()),
        }
    }

    /// Leaves the tools that a client does not see out of the result of `tools/list`.
    pub(crate) fn visible(&self, method: &str, result: Json, peer: &Peer) -> Json {
        let Some(admits) = self
            .filter
            .as_ref()
            .filter(|_| method == methods::TOOLS_LIST)
        else {
            return result;
        };
        let Ok(mut page) = result.read::<Map<Json>>() else {
            return result;
        };
        let Some(mut tools) = page.get("tools").and_then(|it| it.read::<Vec<Json>>().ok()) else {
            return result;
        };
        tools.retain(|tool| {
            let name = JsonObject::try_from(tool.clone()).ok();
            let name = name.and_then(|tool| tool.get("name")?.read::<String>().ok());
            name.is_some_and(|name| admits(&name, peer))
        });
        page.insert("tools", Json::of(&tools));
        Json::of(&page)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("call", &self.call.is_some())
            .field("filter", &self.filter.is_some())
            .finish()
    }
}
