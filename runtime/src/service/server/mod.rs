//! A server made of typed handlers, which implement the `ServerHandlers` of a revision.

mod blocking;
mod context;
#[cfg(feature = "schemars")]
mod form;
mod handlers;
#[cfg(feature = "server-http")]
mod http;
#[cfg(all(feature = "client", feature = "server-stdio"))]
mod in_process;
mod router;
#[cfg(feature = "schema-checks")]
mod schema_checks;
mod stateless;
mod states;
#[cfg(feature = "server-stdio")]
mod stdio;
#[cfg_attr(not(feature = "ext-tasks"), path = "without_tasks.rs")]
mod tasks;
#[cfg(all(feature = "client", feature = "router"))]
pub mod test_call;
#[cfg_attr(not(feature = "tracing"), path = "without_trace.rs")]
pub mod trace;

use std::marker::PhantomData;

use mcp_revisions_core::{Latest, Spoken, UnknownFields};
use mcp_wire::service::{ServerSide, Serves};
use mcp_wire::{Direction, Encode, ErrorObject, Json, Map};

use super::Error;
use super::capabilities::{of_server, promised};
use crate::layer::{LayerMessage, Layers};
use crate::transport::panics::guarded;
use crate::{Limits, RevisionSet};
use mcp_revisions_sansio::server;
use mcp_revisions_sansio::server::{MessageLosses, PeerMistake, Profile, ProfileError};

pub use blocking::BlockingCall;
pub use context::RequestContext;
use handlers::{TypedHandlers, room};
pub(in crate::service) use states::States;
pub use tasks::*;

/// Builder of a server: its implementation info, capabilities and revisions.
///
/// Its capabilities are those that the handlers implement, unless [`with_capabilities`](Self::with_capabilities) sets others.
///
/// ```no_run
/// use mcp_revisions::Latest;
/// use mcp_revisions::latest::{self as mcp, ServerHandlers};
/// use mcp_revisions::service::{RequestContext, Error, Server};
///
/// struct Greeter;
///
/// impl ServerHandlers<RequestContext<Latest>> for Greeter {
///     async fn call_tool(
///         &self,
///         params: mcp::CallToolRequestParams,
///         _: RequestContext<Latest>,
///     ) -> Result<mcp::CallToolOutcome, Error> {
///         let hello = mcp::TextContent::new(format!("Hello from {}.", params.name));
///         Ok(mcp::CallToolResult::new(vec![hello.into()]).into())
///     }
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::<Latest>::new(&mcp_revisions::program!());
/// server.build(Greeter)?.stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Server<App = Latest> {
    info: Json,
    capabilities: Option<Json>,
    instructions: Option<String>,
    served: RevisionSet,
    app: PhantomData<fn() -> App>,
}

impl<App: Spoken> Server<App> {
    /// Creates a server with this `Implementation`, which serves every revision.
    pub fn new(info: &impl Encode) -> Self {
        Self {
            info: Json::of(info),
            capabilities: None,
            instructions: None,
            served: RevisionSet::all(),
            app: PhantomData,
        }
    }

    /// Overrides the `ServerCapabilities` derived from the handlers.
    ///
    /// Derived are those of the methods that are handled, `logging`, and with `subscriptions_listen` also `listChanged` and
    /// `subscribe` of what is listed.
    pub fn with_capabilities(mut self, capabilities: &impl Encode) -> Self {
        self.capabilities = Some(Json::of(capabilities));
        self
    }

    /// Sets the instructions for models that use the server.
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the revisions that are served; all by default.
    pub fn with_revisions(mut self, served: RevisionSet) -> Self {
        self.served = served;
        self
    }

    /// Creates the server of these handlers.
    ///
    /// # Errors
    /// Returns an error if the description is not valid in the revision `App`, or if a declared capability has no handler.
    pub fn build<H>(self, handlers: H) -> Result<McpServer<App>, ServeError>
    where
        App::Protocol: Serves<ServerSide, H, RequestContext<App>>,
        H: Send + Sync + 'static,
    {
        let implemented =
            <App::Protocol as Serves<ServerSide, H, RequestContext<App>>>::implemented();
        let capabilities = match self.capabilities {
            Some(capabilities) => {
                checked(App::REVISION, &capabilities, &implemented)?;
                capabilities
            }
            None => of_server(App::REVISION, &implemented),
        };
        let mut profile = Profile::new(&self.info, &capabilities);
        if let Some(instructions) = self.instructions {
            profile = profile.with_instructions(instructions);
        }
        Ok(McpServer {
            server: server::Server::new(App::REVISION, profile)?.with_revisions(self.served),
            layers: Layers::default(),
            handlers: TypedHandlers::of::<App::Protocol, H>(handlers),
            http: HttpFacts::default(),
        })
    }
}

mcp_wire::debug_struct!([App] Server<App>, "Server", self, "info": self.info, "served": self.served);

/// Why a server cannot be created from its handlers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The description is not valid in the revision.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A capability is declared, and no handler implements it.
    #[error(
        "the capability `{capability}` is declared, and none of its methods is handled: {methods}"
    )]
    NotHandled {
        /// The capability.
        capability: String,
        /// The methods that it promises.
        methods: String,
    },
    /// Registrations that cannot be served; the text has each of them, and what to do.
    #[error("{0}")]
    Router(String),
}

fn checked(
    revision: crate::Revision,
    capabilities: &Json,
    implemented: &[&str],
) -> Result<(), ServeError> {
    let declared: Map<Json> = capabilities.read().unwrap_or_default();
    for (capability, methods) in promised(revision, Direction::ClientToServer) {
        let is_declared = match capability.split_once('.') {
            None => declared.contains_key(capability),
            Some((capability, part)) => {
                let parts: Option<Map<Json>> =
                    (declared.get(capability)).and_then(|parts| parts.read().ok());
                parts.is_some_and(|parts| parts.get(part).is_some_and(|part| part.text() == "true"))
            }
        };
        if is_declared && !methods.iter().any(|method| implemented.contains(method)) {
            return Err(ServeError::NotHandled {
                capability: capability.to_owned(),
                methods: methods.join(", "),
            });
        }
    }
    Ok(())
}

/// A server and its handlers, ready for any transport.
#[doc(alias = "RunningService")]
#[must_use]
pub struct McpServer<App = Latest> {
    server: server::Server,
    handlers: TypedHandlers<App>,
    layers: Layers,
    http: HttpFacts,
}

/// The names and the tools of a server, for its service over HTTP.
#[derive(Default)]
struct HttpFacts {
    hosts: Vec<String>,
    origins: Vec<String>,
    /// A `tools/list` result that is that of every caller.
    tools: Option<Json>,
}

impl<App: Spoken> McpServer<App> {
    /// Sets a hook that is called for each message that lost something on its way to or from a client, and for each that
    /// was refused or dropped. The connection may be locked meanwhile: the hook must not send its client anything.
    ///
    /// ```
    /// # use mcp_revisions::Latest;
    /// # use mcp_revisions::latest::ServerHandlers;
    /// # use mcp_revisions::service::{RequestContext, ServeError, Server};
    /// # struct Greeter;
    /// # impl ServerHandlers<RequestContext<Latest>> for Greeter {}
    /// # fn main() -> Result<(), ServeError> {
    /// let server = Server::<Latest>::new(&mcp_revisions::program!()).build(Greeter)?;
    /// let server = server.on_loss(|lost| eprintln!("{}: {} losses", lost.method, lost.losses.len()));
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_loss(mut self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.server = self.server.on_loss(trace::quiet(guarded(hook)));
        self
    }

    /// Sets a hook that is called with each mistake of a client in a message that is not answered: it was left out because
    /// it is not valid or fits nothing, or it was taken as it was meant. Of one kind the first five are reported, and after
    /// that those whose count is a power of two.
    pub fn on_mistake(mut self, hook: impl Fn(&PeerMistake<'_>) + Send + Sync + 'static) -> Self {
        self.server = self.server.on_mistake(hook);
        self
    }

    /// Sets what happens to fields that an older client's revision does not name [default: `UnknownFields::Drop`, they are
    /// dropped and recorded as lost]; `UnknownFields::Preserve` preserves them.
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.server = self.server.with_unknown_fields(policy);
        self
    }

    /// Adds a layer around the messages of the server, within those that were added before: each request and notification of
    /// clients passes it on its way to the handlers, and each that the handlers send passes it on its way to clients; see
    /// [`layer`](crate::layer).
    pub fn with_layer<F, A>(mut self, layer: F) -> Self
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        self.layers.add(layer);
        self
    }

    /// Sets the limits [default: [`Limits::default`]].
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.server = self.server.with_limits(limits);
        self.handlers.room = room(&limits);
        self
    }

    /// Sets the key that signs `requestState`, in the place of a random one that ends with the process.
    ///
    /// Replicas behind one address need the same key. Called several times, the first key signs and all verify: to
    /// exchange a key, make the new one known to all replicas as the second, then as the first, then drop the old one.
    pub fn with_request_state_key(mut self, key: [u8; 32]) -> Self {
        self.server = self.server.with_request_state_key(key);
        self
    }

    /// Makes each `requestState` of a [`stateless`](RequestContext::stateless) handler good for one retry [default: a client can send it
    /// again for [`Limits::client_response_timeout`], and the handler runs again].
    ///
    /// The process remembers what was used. Of several replicas, the one that asked goes on.
    pub fn with_one_time_state(mut self) -> Self {
        self.server = self.server.with_one_time_state();
        self
    }

    /// Handles requests of a method that no revision has, such as one of an extension. Nothing of them is converted; a
    /// method without a handler is answered with an error.
    ///
    /// The handler sends requests and notifications of such methods by its context, which is a
    /// [`Caller`](mcp_wire::service::Caller). A method of a revision is not custom: its requests never come here.
    ///
    /// ```
    /// # use mcp_revisions::Latest;
    /// # use mcp_revisions::mcp_wire::Json;
    /// # use mcp_revisions::latest::ServerHandlers;
    /// # use mcp_revisions::service::{RequestContext, ServeError, Server};
    /// # struct Greeter;
    /// # impl ServerHandlers<RequestContext<Latest>> for Greeter {}
    /// # fn main() -> Result<(), ServeError> {
    /// let server = Server::<Latest>::new(&mcp_revisions::program!()).build(Greeter)?;
    /// let server = server.custom_method("acme/echo", |params: Json, _cx| async move { Ok(params) });
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn custom_method<F, A>(mut self, method: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Json, RequestContext<App>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, Error>> + Send + 'static,
    {
        self.server = self.server.with_other_methods();
        self.handlers.custom.add_request(method, handler);
        self
    }

    /// Handles notifications of a method that no revision has, as [`custom_method`](Self::custom_method) handles requests.
    pub fn custom_notification<F, A>(mut self, method: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Json, RequestContext<App>) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.server = self.server.with_other_methods();
        self.handlers.custom.add_notification(method, handler);
        self
    }
}

mcp_wire::debug_struct!([App] McpServer<App>, "McpServer", self);
