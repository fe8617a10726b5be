//! The room for names and URIs that a gateway remembers of its servers.

use tracing::warn;

/// Most bytes that are remembered.
const ROOM: usize = 4 << 20;

/// Number of bytes that an entry takes up beside its texts.
const EACH: usize = 64;

/// The bytes of the entries that are remembered.
#[derive(Debug, Default)]
pub(super) struct EntryRoom {
    bytes: usize,
    is_full: bool,
}

impl EntryRoom {
    /// Takes up room for an entry whose texts have so many bytes. Returns false if there is none; the first time it logs that
    /// there are more of these `entries` than are remembered.
    pub(super) fn takes(&mut self, length: usize, entries: &str) -> bool {
        let bytes = self.bytes + length + EACH;
        if bytes > ROOM {
            if !std::mem::replace(&mut self.is_full, true) {
                warn!(
                    "the servers have more {entries} than are remembered: the others are looked for at the servers"
                );
            }
            return false;
        }
        self.bytes = bytes;
        true
    }

    /// Counts the entries that are left after others were forgotten, by the bytes of their texts.
    pub(super) fn recount(&mut self, lengths: impl Iterator<Item = usize>) {
        self.bytes = lengths.map(|length| length + EACH).sum();
        self.is_full = false;
    }
}
