//! The server that a resource belongs to: URIs stay as servers write them, unless two servers have the same.
//!
//! The server that names a URI first keeps it. The same URI of another server becomes `SERVER+URI`, which can be read at any
//! time: servers start again, and lists are read in any order. No server can take that name: a URI that begins as such a name does
//! becomes one of its server itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_revisions::service::lock;
use tracing::warn;

/// Maximum number of bytes of URIs that are remembered.
const ROOM: usize = 4 << 20;

/// Number of bytes that a URI takes up beside its text.
const EACH: usize = 64;

/// The character between the prefix of a server and a URI.
const JOINT: char = '+';

/// The servers that have named a URI or the beginning of a URI template.
#[derive(Debug, Default)]
pub(super) struct Uris(Mutex<NamedUri>);

#[derive(Debug, Default)]
struct NamedUri {
    /// The prefixes of all servers, in the order in which they came.
    servers: Vec<Arc<str>>,
    owners: HashMap<String, Arc<str>>,
    /// The servers of each fixed beginning of URI templates.
    beginnings: HashMap<String, Vec<Arc<str>>>,
    /// The bytes that are taken up.
    bytes: usize,
    /// Set if there was no room for one.
    is_full: bool,
}

impl NamedUri {
    /// Takes up room for one more text. Returns false if there is none, which is logged the first time.
    fn takes(&mut self, text: &str) -> bool {
        let bytes = self.bytes + text.len() + EACH;
        if bytes <= ROOM {
            self.bytes = bytes;
        } else if !std::mem::replace(&mut self.is_full, true) {
            warn!(
                "the servers have more resources than are remembered: the others are looked for at the servers"
            );
        }
        bytes <= ROOM
    }

    /// Returns the server that a URI is of, as clients name it, with the URI as the server has it; `None` if it is not certain.
    fn certain<'u>(&self, uri: &'u str) -> Option<(Arc<str>, &'u str)> {
        let owner = || Some((Arc::clone(self.owners.get(uri)?), uri));
        self.prefixed(uri).or_else(owner)
    }

    /// Returns the server whose prefix a URI begins with, and what follows the prefix.
    fn prefixed<'u>(&self, uri: &'u str) -> Option<(Arc<str>, &'u str)> {
        let (prefix, rest) = uri.split_once(JOINT)?;
        let own = self.servers.iter().find(|own| ***own == *prefix)?;
        Some((Arc::clone(own), rest))
    }
}

impl Uris {
    /// Adds a server.
    pub(super) fn admit(&self, own: &Arc<str>) {
        self.named().servers.push(Arc::clone(own));
    }

    /// Returns the URI of a server as clients see it, and remembers the server as its owner if no other one is.
    pub(super) fn outward(&self, own: &Arc<str>, uri: &str) -> String {
        let mut named = self.named();
        if named.prefixed(uri).is_some() {
            return format!("{own}{JOINT}{uri}");
        }
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

    /// Returns a URI, as clients name it, as this server has it; `None` if it is certain that another one has it.
    pub(super) fn inward<'u>(&self, own: &Arc<str>, uri: &'u str) -> Option<&'u str> {
        match self.named().certain(uri) {
            Some((owner, uri)) => (owner == *own).then_some(uri),
            None => Some(uri),
        }
    }

    /// Returns the servers that may have a URI as clients name it, with the URI as the server has it, the more likely ones
    /// first: one if it is certain; else those with a template that fits as long as any, and all others.
    pub(super) fn servers<'u>(&self, uri: &'u str) -> (Vec<Arc<str>>, Vec<Arc<str>>, &'u str) {
        let named = self.named();
        if let Some((own, uri)) = named.certain(uri) {
            return (vec![own], Vec::new(), uri);
        }
        let fitting = (named.beginnings.iter()).filter(|(it, _)| uri.starts_with(it.as_str()));
        let likely = fitting.max_by_key(|(it, _)| it.len());
        let first = likely.map_or(Vec::new(), |(_, owners)| owners.clone());
        let others = named.servers.iter().filter(|own| !first.contains(own));
        let then = others.cloned().collect();
        (first, then, uri)
    }

    /// Forgets the resources of a server that is gone.
    pub(super) fn forget(&self, own: &Arc<str>) {
        let mut named = self.named();
        let NamedUri {
            servers,
            owners,
            beginnings,
            bytes,
            is_full,
        } = &mut *named;
        servers.retain(|one| one != own);
        owners.retain(|_, owner| owner != own);
        beginnings.retain(|_, owners| {
            owners.retain(|owner| owner != own);
            !owners.is_empty()
        });
        let lengths = (beginnings.iter())
            .flat_map(|(text, owners)| owners.iter().map(|_| text.len()))
            .chain(owners.keys().map(String::len));
        (*bytes, *is_full) = (lengths.map(|length| length + EACH).sum(), false);
    }

    fn named(&self) -> MutexGuard<'_, NamedUri> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_uri_of_two_servers_is_two_resources() {
        let (uris, one, two): (Uris, Arc<str>, Arc<str>) =
            (Uris::default(), "one".into(), "two".into());
        uris.admit(&one);
        uris.admit(&two);
        let certain = |own: &Arc<str>, uri| (vec![own.clone()], vec![], uri);
        assert_eq!(uris.outward(&one, "file:///x"), "file:///x");
        assert_eq!(uris.outward(&two, "file:///x"), "two+file:///x");
        assert_eq!(uris.outward(&one, "file:///x"), "file:///x");
        assert_eq!(uris.servers("file:///x"), certain(&one, "file:///x"));
        assert_eq!(uris.servers("two+file:///x"), certain(&two, "file:///x"));
        uris.template(&two, "notes://{id}");
        let found = uris.servers("notes://7");
        assert_eq!(found, (vec![two.clone()], vec![one.clone()], "notes://7"));
        assert_eq!(uris.inward(&one, "notes://7"), Some("notes://7"));
        assert_eq!(uris.inward(&two, "two+file:///x"), Some("file:///x"));
        assert_eq!(uris.inward(&one, "two+file:///x"), None);
        uris.forget(&one);
        assert_eq!(uris.outward(&two, "file:///x"), "file:///x");
        assert_eq!(
            uris.servers("one+file:///x"),
            (vec![], vec![two.clone()], "one+file:///x")
        );
    }

    #[test]
    fn no_server_takes_the_prefixed_name_of_a_resource_of_another() {
        let (uris, one, two): (Uris, Arc<str>, Arc<str>) =
            (Uris::default(), "one".into(), "two".into());
        uris.admit(&one);
        uris.admit(&two);
        let taken = uris.outward(&one, "two+file:///x");
        assert_eq!(taken, "one+two+file:///x");
        assert_eq!(
            uris.servers(&taken),
            (vec![one.clone()], vec![], "two+file:///x")
        );
        assert_eq!(
            uris.servers("two+file:///x"),
            (vec![two.clone()], vec![], "file:///x")
        );
        // Not even by a name that looks like one of its own.
        let own = uris.outward(&one, "one+file:///x");
        assert_eq!(uris.servers(&own), (vec![one], vec![], "one+file:///x"));
        // A scheme with a `+` is one like any other.
        assert_eq!(uris.outward(&two, "git+https://x"), "git+https://x");
    }
}
