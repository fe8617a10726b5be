//! Builder of a client: its identity, its handlers, and the server to connect to.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::{Revision, Spoken, UnknownFields};
use mcp_wire::service::{ClientSide, Serves};
use mcp_wire::{Direction, Encode, ErrorObject, Json, JsonObject};

use super::cache::Cache;
use super::{CallOptions, Client, ClientContext, handlers};
use crate::layer::{LayerMessage, Layers};
use crate::service::Error;
use crate::service::capabilities::declared;
use crate::service::custom::Custom;
use crate::transport::client::Transport;
use crate::transport::panics::guarded;
use crate::{Limits, RevisionSet};
use mcp_revisions_sansio::client::{self, Channel, Options, Profile, Verdict};
use mcp_revisions_sansio::driver::client::with_mistake_hook;
use mcp_revisions_sansio::{LossHook, MessageLosses};
use mcp_revisions_sansio::{MistakeHook, PeerMistake};

/// A client that is not connected yet.
///
/// Its capabilities are those that its handlers implement, unless [`with_capabilities`](Self::with_capabilities) sets others.
#[must_use = "say what to connect to"]
#[derive(Debug)]
pub struct ClientBuilder<App, H> {
    pub(super) told: ConnectionSettings,
    handlers: H,
    custom: Custom<ClientContext<App>>,
}

#[derive(Debug)]
pub(super) struct ConnectionSettings {
    info: Json,
    capabilities: Option<Json>,
    pub(super) options: Options,
    on_loss: LossHook,
    on_mistake: MistakeHook,
    layers: Layers,
    cache: Option<Arc<Cache>>,
}

impl<App: Spoken> ClientBuilder<App, ()> {
    pub(super) fn of(info: &impl Encode) -> Self {
        // The transport is not known yet, nor are the methods of its handlers.
        let profile = Profile::new(info, &JsonObject::new());
        let options = Options::new(Channel::Stdio, profile);
        let told = ConnectionSettings {
            info: Json::of(info),
            capabilities: None,
            options,
            on_loss: LossHook::default(),
            on_mistake: MistakeHook::default(),
            layers: Layers::default(),
            cache: None,
        };
        Self {
            told,
            handlers: (),
            custom: Custom::default(),
        }
    }
}

impl<App: Spoken, H> ClientBuilder<App, H> {
    /// Handles requests and notifications of the server by the `ClientHandlers` of the revision.
    pub fn with_handlers<Other>(self, handlers: Other) -> ClientBuilder<App, Other> {
        ClientBuilder {
            told: self.told,
            handlers,
            custom: self.custom,
        }
    }

    /// Overrides the `ClientCapabilities` derived from the handlers.
    pub fn with_capabilities(mut self, capabilities: &impl Encode) -> Self {
        self.told.capabilities = Some(Json::of(capabilities));
        self
    }

    /// Sets the revisions that the client may speak; all by default.
    pub fn with_revisions(mut self, revisions: RevisionSet) -> Self {
        self.told.options = self.told.options.with_revisions(revisions);
        self
    }

    /// Sets the resource limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.told.options = self.told.options.with_limits(limits);
        self
    }

    /// Skips the version detection, with the result of an earlier client of the same server.
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.told.options = self.told.options.with_verdict(verdict);
        self
    }

    /// Sets a hook that is called for each message that lost something on its way to or from the server, and for each that
    /// was refused or dropped.
    pub fn on_loss(mut self, hook: impl Fn(&MessageLosses<'_>) + Send + Sync + 'static) -> Self {
        self.told.on_loss = LossHook::new(guarded(hook));
        self
    }

    /// Sets a hook that is called with each mistake of the server: a message that was left out because it is not valid or
    /// fits nothing, or that was taken as it was meant. Of one kind the first five are reported, and after that those whose
    /// count is a power of two.
    pub fn on_mistake(mut self, hook: impl Fn(&PeerMistake<'_>) + Send + Sync + 'static) -> Self {
        self.told.on_mistake = MistakeHook::new(hook);
        self
    }

    /// Adds a layer around the messages of the client, within those that were added before: each request and notification of
    /// the application passes it on its way to the server, and each of the server on its way to handlers and callbacks; see
    /// [`layer`](crate::layer). Changes for [`Client::listen`] pass it without its request.
    pub fn with_layer<F, A>(mut self, layer: F) -> Self
    where
        F: Fn(LayerMessage) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, ErrorObject>> + Send + 'static,
    {
        self.told.layers.add(layer);
        self
    }

    /// Keeps results of lists and of `resources/read` for as long as the server says (`ttlMs`, at most 24 hours), up to `bytes`,
    /// and answers calls with them [default: each call is sent]. A result that is kept has the time that is left.
    ///
    /// Results of the scope `private` are for calls of this client, not for those [on behalf](Client::on_behalf_of) of others. A
    /// notification of a change ends what it is about; those of a 2026-07-28 server come with [`Client::listen`] only. In an
    /// application of an earlier revision, results say no time, and are not kept.
    pub fn with_cache(mut self, bytes: usize) -> Self {
        self.told.cache = Some(Arc::new(Cache::new(bytes)));
        self
    }

    /// Sets what happens to fields that an older server's revision does not name [default: `UnknownFields::Drop`, they are
    /// dropped and recorded as lost]; `UnknownFields::Preserve` preserves them.
    pub fn with_unknown_fields(mut self, policy: UnknownFields) -> Self {
        self.told.options = self.told.options.with_unknown_fields(policy);
        self
    }

    /// Takes tasks: a server may answer a call with one, and the call returns its result all the same. Without this a server
    /// answers each call with its result, and refuses tools that only run as tasks.
    #[cfg(feature = "ext-tasks")]
    pub fn with_tasks(mut self) -> Self {
        self.told.options = self.told.options.with_tasks();
        self
    }

    /// Allows calls of methods that no revision has, such as those of an extension. Nothing of them is converted. They are
    /// made by [`Caller::request`](mcp_wire::service::Caller::request).
    pub fn with_custom_methods(mut self) -> Self {
        self.told.options = self.told.options.with_other_methods();
        self
    }

    /// Handles requests of the server of a method that no revision has, and allows calls of such methods, as
    /// [`with_custom_methods`](Self::with_custom_methods) does.
    pub fn custom_method<F, A>(mut self, method: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Json, ClientContext<App>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Json, Error>> + Send + 'static,
    {
        self.custom.add_request(method, handler);
        self.with_custom_methods()
    }

    /// Handles notifications of the server of a method that no revision has, as [`custom_method`](Self::custom_method)
    /// handles requests.
    pub fn custom_notification<F, A>(mut self, method: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Json, ClientContext<App>) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        self.custom.add_notification(method, handler);
        self.with_custom_methods()
    }

    /// Sets how long a process may be silent about the `server/discover` probe before it is sent `initialize` as well [default:
    /// 5 seconds]. A process that is silent about `initialize` is sent the probe as well after three times as long. A
    /// response to the first message that comes later still counts.
    pub fn with_probe_timeout(mut self, time: Duration) -> Self {
        self.told.options = self.told.options.with_probe_timeout(time);
        self
    }

    /// Sets how long the server may take until it has said which revision it speaks [default: 60 seconds]. Until then calls
    /// wait, and after it they fail with the reason.
    pub fn with_start_timeout(mut self, time: Duration) -> Self {
        self.told.options = self.told.options.with_start_timeout(time);
        self
    }

    /// Sets the revision to speak with a server that has it [default: `App`]. Without it, the server is asked for the nearest
    /// one.
    pub fn with_own_revision(mut self, revision: Revision) -> Self {
        self.told.options = self.told.options.with_own_revision(revision);
        self
    }
}

impl<App: Spoken, H> ClientBuilder<App, H>
where
    App::Protocol: Serves<ClientSide, H, ClientContext<App>>,
    H: Send + Sync + 'static,
{
    /// Connects over two streams of bytes, one message per line: a pipe, a socket, or half of a pair in the same process.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn lines(
        self,
        input: impl tokio::io::AsyncRead + Send + Unpin + 'static,
        output: impl tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> Client<App> {
        let limit = self.message_limit();
        self.run(Channel::Stdio, Transport::lines(input, output, limit))
    }

    /// Returns the maximum number of bytes of a message.
    pub(super) fn message_limit(&self) -> usize {
        self.told.options.limits.max_message_bytes
    }

    /// Sets the connection going, in a task of its own.
    pub(super) fn run(self, channel: Channel, carrier: Transport) -> Client<App> {
        let ConnectionSettings {
            info,
            capabilities,
            options,
            on_loss,
            on_mistake,
            layers,
            cache,
        } = self.told;
        let implemented =
            <App::Protocol as Serves<ClientSide, H, ClientContext<App>>>::implemented();
        let capabilities = capabilities
            .unwrap_or_else(|| declared(App::REVISION, Direction::ServerToClient, &implemented));
        let endpoint = client::Client::new(
            App::REVISION,
            options.over(channel, Profile::new(&info, &capabilities)),
        );
        let endpoint = with_mistake_hook(endpoint.with_loss_hook(on_loss.clone()), on_mistake);
        let how = CallOptions {
            on_loss,
            layers,
            cache,
            ..CallOptions::default()
        };
        let custom = (self.custom, how.clone());
        Client {
            handle: handlers::start(endpoint, carrier, self.handlers, custom),
            how,
            app: PhantomData,
        }
    }
}
