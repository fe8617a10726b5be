//! The names that a shortened name stands for, as far as they are remembered; others are looked up in the list of their server.

use std::collections::HashMap;
use std::sync::Arc;

use super::room::EntryRoom;

/// The prefix of a server, and a name there.
type FullName = (Arc<str>, String);

/// Shortened names, by method of their list and name.
#[derive(Debug, Default)]
pub(super) struct ShortenedNames {
    names: HashMap<(&'static str, String), FullName>,
    room: EntryRoom,
}

impl ShortenedNames {
    /// Remembers what a name stands for, if there is room.
    pub(super) fn insert(&mut self, list: &'static str, outward: &str, own: &Arc<str>, name: &str) {
        let key = (list, outward.to_owned());
        let length = outward.len() + name.len();
        if !self.names.contains_key(&key) && self.room.takes(length, "long names") {
            self.names.insert(key, (Arc::clone(own), name.to_owned()));
        }
    }

    /// Returns the full name of a shortened one.
    pub(super) fn get(&self, list: &'static str, outward: &str) -> Option<FullName> {
        self.names.get(&(list, outward.to_owned())).cloned()
    }

    /// Forgets the names of a server that is gone.
    pub(super) fn forget(&mut self, own: &Arc<str>) {
        self.names.retain(|_, (owner, _)| owner != own);
        let names = self.names.iter();
        self.room
            .recount(names.map(|((_, outward), (_, name))| outward.len() + name.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_remembered_as_long_as_there_is_room_for_their_bytes() {
        let (mut names, own): (ShortenedNames, Arc<str>) = (ShortenedNames::default(), "a".into());
        let long = "x".repeat(3 << 20);
        names.insert("tools/list", "a_1", &own, &long);
        names.insert("tools/list", "a_2", &own, &long);
        names.insert("tools/list", "a_3", &own, "short");
        let is_known = |names: &ShortenedNames| {
            ["a_1", "a_2", "a_3"].map(|name| names.get("tools/list", name).is_some())
        };
        assert_eq!(is_known(&names), [true, false, true]);
        names.forget(&own);
        names.insert("tools/list", "a_2", &own, &long);
        assert_eq!(is_known(&names), [false, true, false]);
    }
}
