//! Streams of changes: one of a client is one of each server, which is opened again when it ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::{errors, methods};
use mcp_wire::{ErrorObject, Json, Map};
use tokio::sync::mpsc;
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

/// The progress of a server's stream.
enum StreamProgress {
    /// It is open, for these resources as the client names them.
    Opened(Vec<String>),
    /// The server has no such stream, or cannot be used now.
    Failed,
    /// It is open again: what happened meanwhile was not reported.
    Reopened(Vec<String>),
}

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
    fn params(&self, uris: &[String]) -> Json {
        let lists = self.lists.iter().map(|(word, _)| (*word, Json::of(&true)));
        let uris = (!uris.is_empty()).then(|| ("resourceSubscriptions", Json::of(uris)));
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
        let (progress, mut received) = mpsc::channel(16);
        let (mut streams, mut opened) = (JoinSet::new(), Vec::<Arc<GatewayMember>>::new());
        let mut open = |streams: &mut JoinSet<()>| {
            let members = self.members();
            opened.retain(|one| members.iter().any(|member| Arc::ptr_eq(one, member)));
            let mut begun = 0;
            for member in members {
                if opened.iter().any(|one| Arc::ptr_eq(one, &member)) {
                    continue;
                }
                opened.push(Arc::clone(&member));
                let stream = GatewayStream {
                    gateway: self.clone(),
                    member,
                    filter: Arc::clone(&filter),
                    progress: progress.clone(),
                };
                streams.spawn(stream.run(call.clone(), peer.clone()));
                begun += 1;
            }
            begun
        };
        let mut awaited = open(&mut streams);
        let (until, mut agreed) = (Instant::now() + TAKES_UP, Vec::new());
        while awaited > 0 {
            match timeout_at(until, received.recv()).await {
                Ok(Some(StreamProgress::Opened(uris) | StreamProgress::Reopened(uris))) => {
                    agreed.extend(uris)
                }
                Ok(Some(StreamProgress::Failed)) => {}
                Ok(None) | Err(_) => break,
            }
            awaited -= 1;
        }
        agreed.sort_unstable();
        agreed.dedup();
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
                    open(&mut streams);
                    tell(&peer, &filter, &[]).await;
                }
                progress = received.recv() => match progress {
                    Some(StreamProgress::Opened(uris) | StreamProgress::Reopened(uris)) => tell(&peer, &filter, &uris).await,
                    Some(StreamProgress::Failed) => {}
                    None => break,
                },
                Some(_) = streams.join_next() => {}
            }
        }
        Err(errors::internal("the gateway has ended").error)
    }
}

/// Tells a client that all it listens to may have changed, and these resources.
async fn tell(peer: &Peer, filter: &StreamFilter, uris: &[String]) {
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
    progress: mpsc::Sender<StreamProgress>,
}

impl GatewayStream {
    /// Keeps the stream open until the server refuses it, or is removed.
    async fn run(self, call: IncomingRequest, peer: Peer) {
        let mut pause = FIRST_PAUSE;
        let mut is_first = true;
        loop {
            let (began, is_open) = (
                Instant::now(),
                Arc::<std::sync::atomic::AtomicBool>::default(),
            );
            let asked = self.asked();
            let own: Vec<String> = asked.keys().cloned().collect();
            let params = self.filter.params(&own);
            let mut members = call.params.read::<Map<Json>>().unwrap_or_default();
            members.extend(params.get("notifications").map(|it| ("notifications", it)));
            let call = IncomingRequest {
                params: Json::of(&members),
                ..call.clone()
            };
            let rewrite = self.rewrite(asked, is_first, Arc::clone(&is_open));
            let ended = self
                .member
                .proxy
                .call_as_part(call, peer.clone(), Some(rewrite))
                .await;
            let was_open = is_open.load(std::sync::atomic::Ordering::Acquire);
            if is_first && !was_open {
                let _ = self.progress.send(StreamProgress::Failed).await;
            }
            is_first = false;
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
    fn asked(&self) -> BTreeMap<String, String> {
        let members = self.gateway.members();
        let prefixes: Vec<Arc<str>> = members.iter().map(|it| Arc::clone(&it.prefix)).collect();
        let mut asked = BTreeMap::new();
        for uri in &self.filter.uris {
            let servers = self.gateway.0.uris.servers(&prefixes, uri).into_iter();
            let own = servers.filter(|(prefix, _)| *prefix == self.member.prefix);
            asked.extend(own.map(|(_, own)| (own.to_owned(), uri.clone())));
        }
        asked
    }

    /// Returns what notifications of the stream become: its acknowledgement is part of that of the gateway.
    fn rewrite(
        &self,
        asked: BTreeMap<String, String>,
        is_first: bool,
        is_open: Arc<std::sync::atomic::AtomicBool>,
    ) -> Rewrite {
        let (gateway, member, progress) = (
            self.gateway.clone(),
            Arc::clone(&self.member),
            self.progress.clone(),
        );
        Rewrite::new(move |method, params: Json| match method {
            methods::NOTIFICATIONS_SUBSCRIPTIONS_ACKNOWLEDGED => {
                let agreed = params.get("notifications");
                let agreed =
                    agreed.and_then(|it| it.read_member::<Vec<String>>("resourceSubscriptions"));
                let named = agreed
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|own| asked.get(&own).cloned())
                    .collect();
                is_open.store(true, std::sync::atomic::Ordering::Release);
                // One that finds no room is one of many: the client is told of changes already.
                let _ = progress.try_send(if is_first {
                    StreamProgress::Opened(named)
                } else {
                    StreamProgress::Reopened(named)
                });
                None
            }
            methods::NOTIFICATIONS_RESOURCES_UPDATED => {
                let own = params.read_member::<String>("uri");
                let Some(asked) = own.and_then(|own| asked.get(&own)) else {
                    return Some(gateway.outward_uri_of(&member, params));
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
