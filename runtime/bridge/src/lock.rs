//! The lock of a server: a layer around lists and calls that keeps unreviewed parts from clients.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_lock::{OfferList, ReadPages, ServerOffer};
use mcp_revisions::layer::LayerMessage;
use mcp_revisions::sansio::client::{OutgoingRequest, ServerFacts};
use mcp_revisions::sansio::errors;
use mcp_revisions::service::lock;
use mcp_revisions_core::Revision;
use mcp_revisions_core::errors::shortened;
use mcp_wire::{Direction, EXCERPT, ErrorObject, Json, Map, excerpt};
use serde_json::Value;
use tracing::warn;

use crate::Error;
use crate::link::{BridgedRequest, ServerLink};
use crate::offer::{PATIENCE, listed};
use crate::settings::BridgeSettings;

/// The treatment of an entry that differs from a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Clients get it, and the log says so.
    Warn,
    /// It is left out of lists, and a call of it gets the error of a tool that does not exist.
    Hide,
    /// A list that has it, and a call of it, get an error with the reason.
    Refuse,
}

/// Maximum number of entries that a line names.
const NAMED: usize = 5;

/// The reviewed offer of a server, and the differences from it in the lists that have passed.
#[derive(Debug)]
pub(crate) struct OfferLock {
    offer: ServerOffer,
    mode: LockMode,
    seen: Mutex<SeenLists>,
}

/// The differences in the lists that passed.
#[derive(Debug, Default)]
struct SeenLists {
    /// Entries of the lock that differed when they were listed last, by the member of their list.
    changed: BTreeSet<(&'static str, String)>,
    /// The line that was logged last: most clients get the same lists.
    told: String,
}

impl OfferLock {
    pub(crate) fn new(offer: ServerOffer, mode: LockMode) -> Self {
        let seen = Mutex::default();
        Self { offer, mode, seen }
    }

    /// Compares the instructions of a server, which models read. If they differ, the mode `Hide` removes them, and `Refuse`
    /// returns an error.
    pub(crate) fn admit(
        &self,
        settings: &BridgeSettings,
        facts: &mut ServerFacts,
    ) -> Result<(), Error> {
        let locked = self.offer.fact("instructions").and_then(Value::as_str);
        if facts.instructions.is_none() || facts.instructions.as_deref() == locked {
            return Ok(());
        }
        let why = "its instructions differ from the lock: `mcp-rev lock --check` shows how";
        match self.mode {
            LockMode::Refuse => return Err(settings.unusable(&why)),
            LockMode::Hide => facts.instructions = None,
            LockMode::Warn => {}
        }
        warn!(server = settings.label(), "{why}");
        Ok(())
    }

    /// Forwards a message: lists without the entries that clients may not get, and calls unless they are refused.
    pub(crate) async fn apply(
        self: Arc<Self>,
        message: LayerMessage,
        server: Option<Arc<str>>,
    ) -> Result<Json, ErrorObject> {
        if !message.is_request() || message.direction() != Direction::ClientToServer {
            return message.forward().await;
        }
        if let Some(list) = OfferList::of_method(message.method()) {
            let is_older = message.peer().is_some_and(|peer| self.is_after(peer.app()));
            let result = message.forward().await?;
            return self.list(list, result, is_older, server.as_deref());
        }
        if let Some(list) = OfferList::used_by(message.method()) {
            self.call(list, message.params(), server.as_deref())?;
        }
        message.forward().await
    }

    /// Lists and compares the entries of a kind before the first request that uses one, and refuses the request if its entry has
    /// changed: clients may call before they list.
    ///
    /// # Errors
    /// As a call; and if the list cannot be read to its end within 60 s.
    pub(crate) async fn compare_first(
        &self,
        server: &ServerLink,
        asked: &BridgedRequest,
        params: &Json,
        label: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let Some(list) = OfferList::used_by(&asked.method) else {
            return Ok(());
        };
        let mut compared = server.compared.lock().await;
        if self.mode == LockMode::Warn || compared.contains(list.member) {
            return Ok(());
        }
        let reading = async {
            let (mut read, mut listing) = (ReadPages::default(), None);
            let is_older = self.is_after(asked.peer.app());
            loop {
                let (caller, peer) = (Arc::clone(&asked.caller), asked.peer.clone());
                let of_list = BridgedRequest::new(list.method, caller, peer);
                let outgoing = OutgoingRequest::new(list.method, listing);
                let answered = server.ask(outgoing, of_list).await;
                let answer = answered.map_err(|error| error.message)?.answer;
                let Some(page) = listed(answer)? else {
                    return Ok(());
                };
                listing = read.params_after(&page)?;
                // The differences matter here, and not what clients get of the list.
                let _ = self.list(list, page, is_older, label);
                if listing.is_none() {
                    return Ok(());
                }
            }
        };
        let late = |_| Err(format!("no end within {} s", PATIENCE.as_secs()));
        let read: Result<(), String> = tokio::time::timeout(PATIENCE, reading)
            .await
            .unwrap_or_else(late);
        read.map_err(|why| {
            let why = format!("{} cannot be compared with the lock: {why}", list.method);
            warn!(server = label, "{why}");
            errors::internal(&why).error
        })?;
        compared.insert(list.member);
        self.call(list, params, label)
    }

    /// Returns whether the server of the lock spoke a later revision than this one.
    fn is_after(&self, spoken: Revision) -> bool {
        let version = self.offer.fact("protocolVersion").and_then(Value::as_str);
        let locked = version.and_then(Revision::from_protocol_version);
        locked.is_some_and(|locked| spoken < locked)
    }

    /// Refuses the call of an entry that is not in the lock, or differed from it when it was listed last, and logs that.
    fn call(
        &self,
        list: &OfferList,
        params: &Json,
        server: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let name: String = params.read_member(list.key).unwrap_or_default();
        self.judge(list, &name).inspect_err(|error| {
            let (method, why) = (list.used_by, shortened(&error.message));
            warn!(server, method, "a request is refused: {why}");
        })
    }

    fn judge(&self, list: &OfferList, name: &str) -> Result<(), ErrorObject> {
        // A template stands for any number of resources.
        let is_locked = list.key == "uri" || self.offer.entry(list, name).is_some();
        let seen = lock(&self.seen);
        let is_changed = seen.changed.contains(&(list.member, name.to_owned()));
        if self.mode == LockMode::Warn || is_locked && !is_changed {
            return Ok(());
        }
        let (what, name) = (list.noun, shortened(name));
        Err(match self.mode {
            LockMode::Refuse if is_changed => differs(&format!("{what} `{name}` has changed")),
            LockMode::Refuse => differs(&format!("{what} `{name}` is not in it")),
            _ => errors::invalid_params(&format!("no {what} `{name}`")).error,
        })
    }

    /// Returns the result of a list as clients get it.
    fn list(
        &self,
        list: &'static OfferList,
        result: Json,
        is_older: bool,
        server: Option<&str>,
    ) -> Result<Json, ErrorObject> {
        let unreadable = |why: mcp_wire::Error| {
            let why = format!("{} of the server cannot be read: {why}", list.method);
            errors::internal(&why).error
        };
        let mut page = result.read::<Map<Json>>().map_err(unreadable)?;
        let Some(entries) = page.get_mut(list.member) else {
            return Ok(result);
        };
        let mut found = Vec::new();
        let mut listed = entries.read::<Vec<Json>>().map_err(unreadable)?;
        let all = listed.len();
        let mut seen = lock(&self.seen);
        listed.retain(|entry| {
            let value: Value = serde_json::from_str(entry.text()).unwrap_or_default();
            let Some((name, entry)) = list.keyed(value) else {
                found.push("an entry without a name".to_owned());
                return false;
            };
            let difference = self.difference(list, (&name, &entry), is_older);
            match &difference {
                Some(_) if self.offer.entry(list, &name).is_some() => {
                    seen.changed.insert((list.member, name.clone()));
                }
                _ => _ = seen.changed.remove(&(list.member, name.clone())),
            }
            found.extend(
                difference
                    .as_ref()
                    .map(|how| format!("{} ({how})", excerpt(&name, EXCERPT))),
            );
            difference.is_none()
        });
        if listed.len() == all {
            return Ok(result);
        }
        let more = found.len().saturating_sub(NAMED);
        found.truncate(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let line = format!("{}: {}{more}", list.member, found.join(", "));
        if seen.told != line {
            let action = match self.mode {
                LockMode::Warn => "clients get them",
                LockMode::Hide => "left out",
                LockMode::Refuse => "refused",
            };
            warn!(server, "these differ from the lock, {action}: {line}");
            line.clone_into(&mut seen.told);
        }
        match self.mode {
            LockMode::Warn => Ok(result),
            LockMode::Refuse => Err(differs(&line)),
            LockMode::Hide => {
                *entries = Json::of(&listed);
                Ok(Json::of(&page))
            }
        }
    }

    /// Returns the members of an entry that differ from the lock; `None` if there are none. A server may leave members out for a
    /// client of an older revision.
    fn difference(
        &self,
        list: &OfferList,
        (name, entry): (&str, &Value),
        is_older: bool,
    ) -> Option<String> {
        let Some(locked) = self.offer.entry(list, name).and_then(Value::as_object) else {
            return Some("new".to_owned());
        };
        let now = entry.as_object()?;
        let changed = now
            .iter()
            .filter(|(member, value)| locked.get(*member) != Some(*value));
        let gone = locked
            .iter()
            .filter(|(member, _)| !is_older && !now.contains_key(*member));
        let members: Vec<String> = changed
            .chain(gone)
            .take(NAMED)
            .map(|(member, _)| excerpt(member, EXCERPT))
            .collect();
        (!members.is_empty()).then(|| members.join(", "))
    }
}

/// Returns the error of a request for an entry that differs from the lock.
fn differs(what: &str) -> ErrorObject {
    let why = format!(
        "what the server offers differs from its lock: {what}: `mcp-rev lock --check` shows how, and a new lock accepts it"
    );
    errors::internal(&why).error
}
