//! The server that a resource belongs to: URIs stay as servers write them, unless two servers have the same.
//!
//! The server that names a URI first keeps it. The same URI of another server becomes `SERVER+URI`, which can be read at any
//! time: servers start again, and lists are read in any order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::room::EntryRoom;

/// The character between the prefix of a server and a URI.
const JOINT: char = '+';

/// The servers that have named a URI or the beginning of a URI template.
#[derive(Debug, Default)]
pub(super) struct Uris(Mutex<NamedUri>);

#[derive(Debug, Default)]
struct NamedUri {
    owners: HashMap<String, Arc<str>>,
    /// The servers of each fixed beginning of URI templates.
    beginnings: HashMap<String, Vec<Arc<str>>>,
    room: EntryRoom,
}

impl NamedUri {
    /// Returns whether there is room for one more text.
    fn takes(&mut self, text: &str) -> bool {
        self.room.takes(text.len(), "resources")
    }

    /// Returns the server that a URI is of, as clients name it, with the URI as the server has it; `None` if it is not certain.
    fn certain<'u>(&self, all: &[Arc<str>], uri: &'u str) -> Option<(Arc<str>, &'u str)> {
        if let Some(owner) = self.owners.get(uri).filter(|owner| all.contains(owner)) {
            return Some((Arc::clone(owner), uri));
        }
        all.iter().find_map(|own| {
            let rest = uri.strip_prefix(&**own)?.strip_prefix(JOINT)?;
            Some((Arc::clone(own), rest))
        })
    }
}

impl Uris {
    /// Returns how clients see a URI of a server, and remembers the server as its owner if no other one is.
    pub(super) fn outward(&self, own: &Arc<str>, uri: &str) -> String {
        let mut named = self.named();
        match named.owners.get(uri) {
            Some(owner) if owner != own => format!("{own}{JOINT}{uri}"),
            Some(_) => uri.to_owned(),
            None => {
                if named.takes(uri) {
                    named.owners.insert(uri.to_owned(), Arc::clone(own));
                }
                uri.to_owned()
            }
        }
    }

    /// Remembers a URI template of a server.
    pub(super) fn template(&self, own: &Arc<str>, template: &str) {
        let beginning = template.split('{').next().unwrap_or_default();
        let mut named = self.named();
        let owners = named.beginnings.get(beginning);
        let is_known = owners.is_some_and(|owners| owners.contains(own));
        if !is_known && named.takes(beginning) {
            let owners = named.beginnings.entry(beginning.to_owned());
            owners.or_default().push(Arc::clone(own));
        }
    }

    /// Returns a URI, as clients name it, as this server has it; `None` if it is certain that another one of all has it.
    pub(super) fn inward<'u>(
        &self,
        own: &Arc<str>,
        all: &[Arc<str>],
        uri: &'u str,
    ) -> Option<&'u str> {
        match self.named().certain(all, uri) {
            Some((owner, uri)) => (owner == *own).then_some(uri),
            None => Some(uri),
        }
    }

    /// Returns the servers that may have a URI as clients name it, with the URI as the server has it: one if it is certain,
    /// else all, the more likely ones first.
    pub(super) fn servers<'u>(&self, all: &[Arc<str>], uri: &'u str) -> Vec<(Arc<str>, &'u str)> {
        let named = self.named();
        if let Some(certain) = named.certain(all, uri) {
            return vec![certain];
        }
        // The longest beginning of each server that fits.
        let mut longest = HashMap::<&Arc<str>, usize>::new();
        let beginnings = named.beginnings.iter();
        for (beginning, owners) in beginnings.filter(|(it, _)| uri.starts_with(it.as_str())) {
            for own in owners {
                let length = longest.entry(own).or_default();
                *length = (*length).max(beginning.len());
            }
        }
        let mut servers: Vec<_> = all.iter().map(|own| (Arc::clone(own), uri)).collect();
        servers.sort_by_key(|(own, _)| std::cmp::Reverse(longest.get(own).copied()));
        servers
    }

    /// Forgets the resources of a server that is gone.
    pub(super) fn forget(&self, own: &Arc<str>) {
        let mut named = self.named();
        let NamedUri {
            owners,
            beginnings,
            room,
        } = &mut *named;
        owners.retain(|_, owner| owner != own);
        beginnings.retain(|_, owners| {
            owners.retain(|owner| owner != own);
            !owners.is_empty()
        });
        let lengths = (beginnings.iter())
            .flat_map(|(text, owners)| owners.iter().map(|_| text.len()))
            .chain(owners.keys().map(String::len));
        room.recount(lengths);
    }

    fn named(&self) -> MutexGuard<'_, NamedUri> {
        // Nothing that is done under the lock leaves it half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_uri_of_two_servers_is_two_resources() {
        let (uris, one, two): (Uris, Arc<str>, Arc<str>) =
            (Uris::default(), "one".into(), "two".into());
        let all = [Arc::clone(&one), Arc::clone(&two)];
        assert_eq!(uris.outward(&one, "file:///x"), "file:///x");
        assert_eq!(uris.outward(&two, "file:///x"), "two+file:///x");
        assert_eq!(uris.outward(&one, "file:///x"), "file:///x");
        assert_eq!(
            uris.servers(&all, "file:///x"),
            [(Arc::clone(&one), "file:///x")]
        );
        assert_eq!(
            uris.servers(&all, "two+file:///x"),
            [(Arc::clone(&two), "file:///x")]
        );
        uris.template(&two, "notes://{id}");
        let found = uris.servers(&all, "notes://7");
        assert_eq!(
            found,
            [(Arc::clone(&two), "notes://7"), (one.clone(), "notes://7")]
        );
        assert_eq!(uris.inward(&one, &all, "notes://7"), Some("notes://7"));
        assert_eq!(uris.inward(&two, &all, "two+file:///x"), Some("file:///x"));
        assert_eq!(uris.inward(&one, &all, "two+file:///x"), None);
        uris.forget(&one);
        assert_eq!(uris.outward(&two, "file:///x"), "file:///x");
        uris.forget(&two);
        let found = uris.servers(&all, "notes://7");
        assert_eq!(found, [(one, "notes://7"), (two, "notes://7")]);
    }
}
