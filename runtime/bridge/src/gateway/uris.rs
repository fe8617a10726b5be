//! The server that a resource belongs to: URIs stay as servers write them, unless two servers have the same.
//!
//! The server that names a URI first keeps it. The same URI of another server becomes `SERVER+URI`, which can be read at any
//! time: servers start again, and lists are read in any order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::warn;

/// Most bytes of URIs that are remembered; others are looked for at each server.
const ROOM: usize = 4 << 20;

/// The character between the prefix of a server and a URI.
const JOINT: char = '+';

/// The servers that have named a URI or the beginning of a URI template.
#[derive(Debug, Default)]
pub(super) struct Uris(Mutex<NamedUri>);

#[derive(Debug, Default)]
struct NamedUri {
    owners: HashMap<String, Arc<str>>,
    /// The fixed beginnings of URI templates.
    beginnings: Vec<(String, Arc<str>)>,
    bytes: usize,
    is_full: bool,
}

impl NamedUri {
    /// Returns whether there is room for one more text.
    fn takes(&mut self, text: &str) -> bool {
        let bytes = self.bytes + text.len() + 64;
        if bytes > ROOM {
            if !std::mem::replace(&mut self.is_full, true) {
                warn!(
                    "the servers name more resources than are remembered: the others are looked for at each server"
                );
            }
            return false;
        }
        self.bytes = bytes;
        true
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
        let is_known =
            (named.beginnings.iter()).any(|(known, owner)| known == beginning && owner == own);
        if !is_known && named.takes(beginning) {
            named
                .beginnings
                .push((beginning.to_owned(), Arc::clone(own)));
        }
    }

    /// Returns the servers that may have a URI as clients name it, with the URI as the server has it: one if it is certain,
    /// else all, the more likely ones first.
    pub(super) fn servers<'u>(&self, all: &[Arc<str>], uri: &'u str) -> Vec<(Arc<str>, &'u str)> {
        let named = self.named();
        if let Some(owner) = named.owners.get(uri).filter(|owner| all.contains(owner)) {
            return vec![(Arc::clone(owner), uri)];
        }
        let explicit = all.iter().find_map(|own| {
            let rest = uri.strip_prefix(&**own)?.strip_prefix(JOINT)?;
            Some((Arc::clone(own), rest))
        });
        if let Some(explicit) = explicit {
            return vec![explicit];
        }
        let likely = |own: &Arc<str>| {
            let of = named.beginnings.iter().filter(|(_, owner)| owner == own);
            let fit = of.filter(|(beginning, _)| uri.starts_with(beginning.as_str()));
            fit.map(|(beginning, _)| beginning.len() + 1)
                .max()
                .unwrap_or_default()
        };
        let mut servers: Vec<_> = all.iter().map(|own| (likely(own), own)).collect();
        servers.sort_by_key(|(likely, _)| std::cmp::Reverse(*likely));
        servers
            .into_iter()
            .map(|(_, own)| (Arc::clone(own), uri))
            .collect()
    }

    /// Forgets the resources of a server that is gone.
    pub(super) fn forget(&self, own: &Arc<str>) {
        let mut named = self.named();
        named.owners.retain(|_, owner| owner != own);
        named.beginnings.retain(|(_, owner)| owner != own);
        let bytes = named
            .owners
            .keys()
            .chain(named.beginnings.iter().map(|(text, _)| text))
            .map(|text| text.len() + 64)
            .sum();
        (named.bytes, named.is_full) = (bytes, false);
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
        uris.forget(&one);
        assert_eq!(uris.outward(&two, "file:///x"), "file:///x");
    }
}
