//! Streams of changes: one of a client is one of each server, which is opened again when it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::{core::methods, sansio::errors, service::lock};
use mcp_wire::{ErrorObject, Json, Map};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;

use super::{Gateway, GatewayMember};
use crate::link::Rewrite;

/// Time that the acknowledgement of a stream waits for those of the servers.
const TAKES_UP: Duration = Duration::from_secs(5);

/// The pauses before a stream that ended is opened again: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The words of lists in a filter, and the notifications of their changes.
const LISTS: [(&str, &str); 3] = [
    (
        "toolsListChanged",
        methods::NOTIFICATIONS_TOOLS_LIST_CHANGED,
    ),
    (
        "promptsListChanged",
        methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED,
    ),
    (
        "resourcesListChanged",
        methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED,
    ),
];

/// The changes that a client subscribes to.
struct StreamFilter {
    lists: Vec<(&'static str, &'static str)>,
    uris: Vec<String>,
}

impl StreamFilter {
    fn read(params: &Json) -> Result<Self, ErrorObject> {
        let filter = params
            .get("notifications")
            .and_then(|it| it.read::<Map<Json>>().ok())
            .ok_or_else(|| {
                errors::invalid_params("`notifications` is required, and an object").error
            })?;
        let wants = |word: &str| filter.get(word).is_some_and(|it| it.text() == "true");
        let uris = filter
            .get("resourceSubscriptions")
            .and_then(|it| it.read().ok());
        Ok(Self {
            lists: LISTS.into_iter().filter(|(word, _)| wants(word)).collect(),
            uris: uris.unwrap_or_default(),
        })
    }

    /// Returns the filter as params, for these resources.
    fn params<'u>(&self, uris: impl IntoIterator<Item = &'u String>) -> Json {
        let lists = self.lists.iter().map(|(word, _)| (*word, Json::of(&true)));
        let wanted: Vec<&String> = uris.into_iter().collect();
        let uris = (!wanted.is_empty()).then(|| ("resourceSubscriptions", Json::of(&wanted)));
        let filter = Json::of(&lists.chain(uris).collect::<Map<Json>>());
        Json::of(&Map::from_iter([("notifications", filter)]))
    }
}

impl Gateway {
    /// Opens a stream of changes, which ends with its client.
    pub(super) async fn listen(
        &self,
        call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        let filter = Arc::new(StreamFilter::read(&call.params)?);
        let mut changes = self.0.changes.subscribe();
        let missed = Arc::new(watch::Sender::new(BTreeSet::new()));
        let mut misses = missed.subscribe();
        let (mut streams, mut opened) = (JoinSet::new(), Vec::<Arc<GatewayMember>>::new());
        let mut open = |streams: &mut JoinSet<()>| {
            let members = self.members();
            opened.retain(|one| members.iter().any(|member| Arc::ptr_eq(one, member)));
            let mut begun = Vec::new();
            for member in members {
                if opened.iter().any(|one| Arc::ptr_eq(one, &member)) {
                    continue;
                }
                opened.push(Arc::clone(&member));
                let (first, acknowledgement) = oneshot::channel();
                let stream = GatewayStream {
                    gateway: self.clone(),
                    member,
                    filter: Arc::clone(&filter),
                    first: Arc::new(Mutex::new(Some(first))),
                    missed: Arc::clone(&missed),
                };
                streams.spawn(stream.run(call.clone(), peer.clone()));
                begun.push(acknowledgement);
            }
            begun
        };
        let (until, mut agreed) = (Instant::now() + TAKES_UP, BTreeSet::new());
        for acknowledgement in open(&mut streams) {
            if let Ok(Ok(uris)) = timeout_at(until, acknowledgement).await {
                agreed.extend(uris);
            }
        }
        let acknowledged = methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED;
        let _ = peer
            .notify(acknowledged, Some(&filter.params(&agreed)))
            .await;
        loop {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    // What a new server acknowledges is among what was missed.
                    drop(open(&mut streams));
                    tell(&peer, &filter, &BTreeSet::new()).await;
                }
                _ = misses.changed() => {
                    let mut uris = BTreeSet::new();
                    missed.send_if_modified(|missed| {
                        uris = std::mem::take(missed);
                        false
                    });
                    tell(&peer, &filter, &uris).await;
                }
                Some(_) = streams.join_next() => {}
            }
        }
        Err(errors::internal("the gateway has ended").error)
    }
}

/// Tells a client that all it listens to may have changed, and these resources.
async fn tell(peer: &Peer, filter: &StreamFilter, uris: &BTreeSet<String>) {
    for (_, method) in &filter.lists {
        let _ = peer.notify(method, None).await;
    }
    for uri in uris {
        let params = Json::of(&Map::from_iter([("uri", Json::of(uri))]));
        let _ = peer
            .notify(methods::NOTIFICATIONS_RESOURCES_UPDATED, Some(&params))
            .await;
    }
}

/// The stream of one server.
struct GatewayStream {
    gateway: Gateway,
    member: Arc<GatewayMember>,
    filter: Arc<StreamFilter>,
    /// The first acknowledgement: the resources that the server agrees to, as the client names them. It is dropped if the server
    /// has no such stream, or cannot be used now.
    first: Arc<Mutex<Option<oneshot::Sender<BTreeSet<String>>>>>,
    /// The resources whose changes may not have been reported, because their stream was open too late, or again.
    missed: Arc<watch::Sender<BTreeSet<String>>>,
}

impl GatewayStream {
    /// Keeps the stream open until the server refuses it, or is removed.
    async fn run(self, call: IncomingRequest, peer: Peer) {
        let mut pause = FIRST_PAUSE;
        loop {
            let began = Instant::now();
            let asked = self.resources();
            let params = self.filter.params(asked.keys());
            let mut members = call.params.read::<Map<Json>>().unwrap_or_default();
            members.extend(params.get("notifications").map(|it| ("notifications", it)));
            let call = IncomingRequest {
                params: Json::of(&members),
                ..call.clone()
            };
            let rewrite = self.rewrite(asked);
            let ended = self
                .member
                .proxy
                .call_as_part(call, peer.clone(), Some(rewrite))
                .await;
            drop(lock(&self.first).take());
            if !self
                .gateway
                .members()
                .iter()
                .any(|one| Arc::ptr_eq(one, &self.member))
            {
                return;
            }
            if let Err(error) = &ended {
                debug!(
                    server = self.member.name,
                    "the stream of changes has ended: {}", error.message
                );
                if is_refusal(error) {
                    return;
                }
            }
            if began.elapsed() >= LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Returns the resources that this server may have, as it names them, each with the name that the client has for it.
    fn resources(&self) -> BTreeMap<String, String> {
        let mut asked = BTreeMap::new();
        for uri in &self.filter.uris {
            let own = (self.gateway.0.uris).inward(&self.member.prefix, uri);
            asked.extend(own.map(|own| (own.to_owned(), uri.clone())));
        }
        asked
    }

    /// Returns the rewriting of the stream's notifications: its acknowledgement is part of that of the gateway.
    fn rewrite(&self, asked: BTreeMap<String, String>) -> Rewrite {
        let (gateway, member) = (self.gateway.clone(), Arc::clone(&self.member));
        let (first, missed) = (Arc::clone(&self.first), Arc::clone(&self.missed));
        Rewrite::new(move |method, params: Json| match method {
            methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED => {
                let agreed = params.get("notifications");
                let agreed =
                    agreed.and_then(|it| it.read_member::<Vec<String>>("resourceSubscriptions"));
                let named: BTreeSet<String> = agreed
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|own| asked.get(&own).cloned())
                    .collect();
                let first = lock(&first).take();
                // The gateway has not waited for it, or it is open again: what happened meanwhile was not reported.
                let late = match first {
                    Some(first) => first.send(named).err(),
                    None => Some(named),
                };
                if let Some(named) = late {
                    missed.send_modify(|missed| missed.extend(named));
                }
                None
            }
            methods::NOTIFICATIONS_RESOURCES_UPDATED => {
                let own = params.read_member::<String>("uri");
                let Some(asked) = own.and_then(|own| asked.get(&own)) else {
                    return gateway.outward_notice(&member, &params);
                };
                let mut members = params.read::<Map<Json>>().unwrap_or_default();
                members.insert("uri", Json::of(asked));
                Some(Json::of(&members))
            }
            _ => Some(params),
        })
    }
}

/// Returns whether an error says that the server takes no such request, however often it is sent.
fn is_refusal(error: &ErrorObject) -> bool {
    let codes = [
        ErrorObject::METHOD_NOT_FOUND,
        ErrorObject::INVALID_PARAMS,
        ErrorObject::INVALID_REQUEST,
    ];
    error
        .code
        .as_i64()
        .is_some_and(|code| codes.contains(&code))
}
