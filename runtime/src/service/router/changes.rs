//! Notifications of changes for subscribed clients.

use std::sync::{Arc, Weak};

use mcp_revisions_core::{Latest, latest as mcp, methods};
use mcp_wire::Json;
use mcp_wire::service::Caller;
use tokio::sync::broadcast::{self, error::RecvError};

use super::{Error, RequestContext, Router};
use crate::backplane::{Backplane, Receiver, ReplicaTarget, detach};
use mcp_revisions_sansio::driver::server::change;
use mcp_revisions_sansio::driver::{Filter, about};

/// Maximum number of changes kept for a client that reads slowly; beyond it, the client is notified of everything it subscribed to.
const KEPT: usize = 256;

/// Notifies the clients of a [`Router`] of changes; clones notify the same clients.
///
/// ```
/// # use mcp_revisions::service::router::{Changes, Router};
/// let changes = Changes::new();
/// let router = Router::new().with_changes(&changes).resource("file:///news", "news", || async { "None." });
/// // Whenever it is so, wherever that is noticed:
/// changes.resource("file:///news");
/// # drop(router);
/// ```
#[derive(Debug, Clone)]
pub struct Changes {
    sender: broadcast::Sender<ChangeNotice>,
    others: Option<Arc<OtherReplicas>>,
}

#[derive(Debug, Clone)]
struct ChangeNotice {
    /// The notification of it; `None` if changes of other replicas may not have arrived.
    method: Option<&'static str>,
    /// Of a resource.
    uri: Option<String>,
}

impl Default for Changes {
    fn default() -> Self {
        Self::new()
    }
}

impl Changes {
    /// Creates the changes of a server without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sender: broadcast::channel(KEPT).0,
            others: None,
        }
    }

    /// Notifies the clients of all replicas: of each that has [joined](Backplane::join) this backplane with its changes.
    #[must_use]
    pub fn shared_by(mut self, backplane: impl Backplane) -> Self {
        let sender = self.sender.clone();
        self.others = Some(Arc::new_cyclic(|me: &Weak<OtherReplicas>| {
            let me: Weak<OtherReplicas> = Weak::clone(me);
            OtherReplicas {
                sender,
                address: backplane.join(me),
                backplane: Box::new(backplane),
            }
        }));
        self
    }

    /// Notifies subscribers that the list of tools changed.
    pub fn tools(&self) {
        self.tell(methods::NOTIFICATIONS_TOOLS_LIST_CHANGED, None);
    }

    /// Notifies subscribers that the list of prompts changed.
    pub fn prompts(&self) {
        self.tell(methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED, None);
    }

    /// Notifies subscribers that the list of resources changed.
    pub fn resources(&self) {
        self.tell(methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED, None);
    }

    /// Notifies subscribers that the resource at this URI changed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.tell(methods::NOTIFICATIONS_RESOURCES_UPDATED, Some(uri.into()));
    }

    fn tell(&self, method: &'static str, uri: Option<String>) {
        if let Some(others) = &self.others {
            others.tell(Some(method), uri.as_deref());
        }
        // It fails if no stream of a client listens.
        let method = Some(method);
        let _ = self.sender.send(ChangeNotice { method, uri });
    }

    /// Tells a client what it listens to, of what a server with these capabilities has, as long as it does.
    pub(super) async fn listen(
        &self,
        params: &mcp::SubscriptionsListenRequestParams,
        capabilities: &mcp::ServerCapabilities,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::SubscriptionsListenResult, Error> {
        let mut changes = self.sender.subscribe();
        let capabilities = Json::of(capabilities);
        let declares = |path: &[&str]| mcp_revisions_sansio::driver::declares(&capabilities, path);
        // A client that is gone has no limits, and the acknowledgement fails.
        let limits = cx.session().limits().unwrap_or_default();
        let wanted = Filter::read(&Json::of(params), declares, &limits).map_err(|it| it.error)?;
        cx.notification(
            methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED,
            Some(wanted.params()),
        )
        .await?;
        loop {
            match changes.recv().await {
                Ok(ChangeNotice {
                    method: Some(method),
                    uri,
                }) => {
                    if wanted.wants(method, uri.as_deref()) {
                        cx.notification(method, about(uri.as_deref())).await?;
                    }
                }
                // The changes that it has missed are not known any more: all of it may be another.
                Ok(ChangeNotice { method: None, .. }) | Err(RecvError::Lagged(_)) => {
                    for (method, params) in wanted.all() {
                        cx.notification(method, params).await?;
                    }
                }
                // Whoever could tell more is this.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// The other replicas, which hear of changes here, and report theirs.
struct OtherReplicas {
    sender: broadcast::Sender<ChangeNotice>,
    address: Arc<str>,
    backplane: Box<dyn Backplane>,
}

/// The first byte of the message of a change; other messages of a backplane begin with another.
const MARK: u8 = b'C';

impl OtherReplicas {
    /// Tells the other replicas of a change, or without a method that they may have missed some.
    fn tell(&self, method: Option<&str>, uri: Option<&str>) {
        let said = [Some(&*self.address), method, uri];
        let mut message = vec![MARK];
        message.extend(
            Json::of(&said.into_iter().flatten().collect::<Vec<_>>())
                .text()
                .bytes(),
        );
        detach(self.backplane.send(ReplicaTarget::All, message));
    }
}

impl Receiver for OtherReplicas {
    fn receive(&self, message: &[u8]) {
        let Some((&MARK, text)) = message.split_first() else {
            return;
        };
        let said = str::from_utf8(text).ok().map(Json::from_text);
        let Some(Ok(said)) = said.map(|said| said.and_then(|said| said.read::<Vec<String>>()))
        else {
            return;
        };
        let Some((_, said)) = said
            .split_first()
            .filter(|(from, _)| ***from != *self.address)
        else {
            return;
        };
        let method = said.first().and_then(|method| change(method));
        if method.is_some() || said.is_empty() {
            let uri = said.get(1).cloned();
            // It fails if no stream of a client listens.
            let _ = self.sender.send(ChangeNotice { method, uri });
        }
    }

    fn reconnected(&self) {
        self.tell(None, None);
        let (method, uri) = (None, None);
        let _ = self.sender.send(ChangeNotice { method, uri });
    }

    // What is sent to all needs no key of the backplane: where only keys are lost, no change is.
    fn missed(&self) {}

    fn emptied(&self) {}
}

mcp_wire::debug_struct!([] OtherReplicas, "Others", self);

impl Router {
    /// Sends notifications of these changes to subscribed clients: of lists, and of resources.
    pub fn with_changes(mut self, changes: &Changes) -> Self {
        self.changes = Some(changes.clone());
        self
    }
}
