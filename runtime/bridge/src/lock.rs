//! The lock of a server: a layer around lists and calls that keeps from clients the parts that people have not reviewed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcp_lock::{OfferList, ServerOffer};
use mcp_revisions::layer::LayerMessage;
use mcp_revisions::sansio::client::ServerFacts;
use mcp_revisions::sansio::errors;
use mcp_revisions::service::lock;
use mcp_revisions_core::Revision;
use mcp_revisions_core::errors::shortened;
use mcp_wire::{Direction, EXCERPT, ErrorObject, Json, Map, excerpt};
use serde_json::Value;
use tracing::warn;

use crate::Error;
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

/// The reviewed offer of a server, and the differences of today.
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

    /// Compares the instructions of a server, which models read, and leaves them out if that is how the lock is used. Returns
    /// an error if they differ and nothing that does is to reach a client.
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

    /// Passes a message on, with what of it clients may get.
    pub(crate) async fn apply(
        self: Arc<Self>,
        message: LayerMessage,
        server: Option<Arc<str>>,
    ) -> Result<Json, ErrorObject> {
        if !message.is_request() || message.direction() != Direction::ClientToServer {
            return message.forward().await;
        }
        if let Some(list) = OfferList::of_method(message.method()) {
            let locked = self.offer.fact("protocolVersion").and_then(Value::as_str);
            let locked = locked.and_then(Revision::from_protocol_version);
            let spoken = message.peer().map(|peer| peer.app());
            let is_older = spoken
                .zip(locked)
                .is_some_and(|(spoken, locked)| spoken < locked);
            let result = message.forward().await?;
            return self.list(list, result, is_older, server.as_deref());
        }
        if let Some(list) = OfferList::used_by(message.method()) {
            let name: String = message.params().read_member(list.key).unwrap_or_default();
            self.call(list, &name).inspect_err(|error| {
                let why = shortened(&error.message);
                warn!(
                    server = server.as_deref(),
                    method = list.used_by,
                    "a request is refused: {why}"
                );
            })?;
        }
        message.forward().await
    }

    /// Refuses the call of what is not in the lock, or has differed from it when it was listed last.
    fn call(&self, list: &OfferList, name: &str) -> Result<(), ErrorObject> {
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

    /// Returns in which members an entry differs from the lock; `None` if in none. A server may leave members out for a client
    /// of an older revision.
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

/// Returns the error of a request for what differs.
fn differs(what: &str) -> ErrorObject {
    let why = format!(
        "what the server offers differs from its lock: {what}: `mcp-rev lock --check` shows how, and a new lock accepts it"
    );
    errors::internal(&why).error
}
