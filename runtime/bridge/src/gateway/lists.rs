//! The lists of all servers as one, over all their pages.

use std::sync::Arc;
use std::time::Duration;

use mcp_revisions::http::ListedTool;
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::serve::Peer;
use mcp_revisions::{core::methods, sansio::errors};
use mcp_wire::{ErrorObject, Json, Map, excerpt, meta};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, warn};

use super::items::list_of;
use super::{Gateway, GatewayMember};

/// Most pages of a list of one server.
const PAGES: usize = 100;

/// Most entries, and bytes of them, of a list of one server.
const ITEMS: usize = 10_000;
const BYTES: usize = 4 << 20;

/// For how many milliseconds a list may be kept at most.
const LONGEST_TTL: i64 = 3_600_000;

/// The key in `_meta` of a list that names the servers whose part is missing, each with the reason.
const UNAVAILABLE: &str = "io.github.mcp-revisions/unavailable";

/// Maximum number of characters of the reason why a part is missing: it may quote the server.
const REASON: usize = 1_000;

/// The list of one server.
pub(super) struct ServerList {
    pub(super) items: Vec<Json>,
    /// For how long and for whom it may be kept.
    ttl_ms: i64,
    is_public: bool,
}

/// A list that is on its way, and given up if it is not waited for.
struct Listing(Option<JoinHandle<Result<ServerList, ErrorObject>>>);

impl Drop for Listing {
    fn drop(&mut self) {
        if let Some(listing) = &self.0 {
            listing.abort();
        }
    }
}

impl Gateway {
    /// Answers a request for a list.
    pub(super) async fn list(
        &self,
        call: IncomingRequest,
        peer: Peer,
    ) -> Result<Json, ErrorObject> {
        if call
            .params
            .get("cursor")
            .is_some_and(|cursor| !cursor.is_null())
        {
            return Err(errors::invalid_params(
                "`cursor`: this list has one page, and no cursor was given",
            )
            .error);
        }
        let method = call.method;
        let until = Instant::now() + self.0.settings.list_time;
        let mut members = self.members();
        // The listener looks at one tool, before a call of it: no other server is waited for.
        if let Some(ListedTool(name)) = peer.extension() {
            let own = self.tool_group(name);
            members.retain(|member| own.as_deref() == Some(&member.prefix));
        }
        let begun: Vec<Listing> = members
            .iter()
            .map(|member| {
                let (member, call, peer) = (Arc::clone(member), call.clone(), peer.clone());
                let listing = tokio::spawn(async move { list_all(&member, &call, &peer).await });
                Listing(Some(listing))
            })
            .collect();
        let (mut items, mut missing) = (Vec::new(), Map::<Json>::default());
        let (mut ttl_ms, mut is_public) = (LONGEST_TTL, true);
        let mut may_change = members.is_empty();
        for (member, mut listing) in members.iter().zip(begun) {
            match self
                .awaited(member, method, &mut listing, until, &peer)
                .await
            {
                Ok(listed) => {
                    ttl_ms = ttl_ms.min(listed.ttl_ms);
                    is_public &= listed.is_public;
                    items.extend(self.outward_items(method, member, listed.items));
                }
                Err(error) => {
                    let why = excerpt(&error.message, REASON);
                    warn!(
                        server = member.name,
                        "its part of {method} is missing: {why}"
                    );
                    missing.insert(&*member.name, Json::of(&why));
                    may_change |= !member.is_unusable;
                }
            }
        }
        // A list that is missing may be there the next time.
        if may_change {
            (ttl_ms, is_public) = (0, false);
        }
        let scope = if is_public { "public" } else { "private" };
        let members = [
            ("resultType", Json::of("complete")),
            (list_of(method), Json::of(&items)),
            ("ttlMs", Json::of(&ttl_ms)),
            ("cacheScope", Json::of(scope)),
        ];
        let result = Json::of(&Map::from_iter(members));
        Ok(if missing.is_empty() {
            result
        } else {
            meta::with(&result, UNAVAILABLE, &Json::of(&missing))
        })
    }

    /// Waits for the list of a server. One that is late is awaited for another time: its client hears then that the list has
    /// changed.
    async fn awaited(
        &self,
        member: &Arc<GatewayMember>,
        method: &'static str,
        listing: &mut Listing,
        until: Instant,
        peer: &Peer,
    ) -> Result<ServerList, ErrorObject> {
        let Some(begun) = &mut listing.0 else {
            return Err(errors::internal("the list is not awaited").error);
        };
        if let Ok(listed) = timeout_at(until, begun).await {
            return listed.unwrap_or_else(|_| Err(errors::internal("the list was given up").error));
        }
        if let (Ok(permit), Some(late)) = (
            Arc::clone(&self.0.late).try_acquire_owned(),
            listing.0.take(),
        ) {
            let (session, name) = (peer.session(), member.name.clone());
            tokio::spawn(async move {
                let _permit = permit;
                if matches!(late.await, Ok(Ok(_))) {
                    debug!(server = name, "its part of {method} has come");
                    let changed = match method {
                        methods::TOOLS_LIST => methods::NOTIFICATIONS_TOOLS_LIST_CHANGED,
                        methods::PROMPTS_LIST => methods::NOTIFICATIONS_PROMPTS_LIST_CHANGED,
                        _ => methods::NOTIFICATIONS_RESOURCES_LIST_CHANGED,
                    };
                    let _ = session.notify(changed, None);
                }
            });
        }
        Err(late(self.0.settings.list_time))
    }
}

/// Returns the error of a server that has not answered in this time.
pub(super) fn late(time: Duration) -> ErrorObject {
    let seconds = time.as_secs_f32();
    errors::internal(&format!("the server has not answered within {seconds} s")).error
}

/// Lists what one server has, over all pages. A server without such things has an empty list.
pub(super) async fn list_all(
    member: &GatewayMember,
    call: &IncomingRequest,
    peer: &Peer,
) -> Result<ServerList, ErrorObject> {
    let mut listed = ServerList {
        items: Vec::new(),
        ttl_ms: LONGEST_TTL,
        is_public: true,
    };
    let (list, mut bytes, mut cursor) = (list_of(call.method), 0, None::<Json>);
    for _ in 0..PAGES {
        let mut params = call.params.read::<Map<Json>>().unwrap_or_default();
        params.remove("cursor");
        params.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page = IncomingRequest {
            params: Json::of(&params),
            ..call.clone()
        };
        let page = match member.proxy.call_as_part(page, peer.clone(), None).await {
            Ok(page) => page,
            Err(error) if error.code.as_i64() == Some(ErrorObject::METHOD_NOT_FOUND) => {
                return Ok(listed);
            }
            Err(error) => return Err(error),
        };
        let mut members = page.read::<Map<Json>>().unwrap_or_default();
        let items = members
            .remove(list)
            .and_then(|items| items.read::<Vec<Json>>().ok());
        let ttl = members.get("ttlMs").and_then(|it| it.parse::<f64>().ok());
        listed.ttl_ms = listed.ttl_ms.min(ttl.map_or(0, |ttl| ttl.max(0.0) as i64));
        listed.is_public &= members
            .get("cacheScope")
            .is_some_and(|it| it.text() == r#""public""#);
        for item in items.unwrap_or_default() {
            bytes += item.text().len();
            if listed.items.len() >= ITEMS || bytes > BYTES {
                warn!(
                    server = member.name,
                    "its {list} take up more than {ITEMS} entries or {BYTES} bytes: the rest is left out"
                );
                return Ok(listed);
            }
            listed.items.push(item);
        }
        cursor = members
            .remove("nextCursor")
            .filter(|cursor| !cursor.is_null());
        if cursor.is_none() {
            return Ok(listed);
        }
    }
    warn!(
        server = member.name,
        "its {list} have more than {PAGES} pages: the rest is left out"
    );
    Ok(listed)
}
