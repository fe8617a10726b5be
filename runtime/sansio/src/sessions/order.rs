//! Who goes first: lines of things in a slab, each linked to the one before it and the one behind it, so that nothing is
//! searched; one thing may stand in several lines, by a link for each.

use std::num::NonZeroU32;

use slab::Slab;

/// A place in the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(NonZeroU32);

impl Key {
    /// Returns `None` if there are more places than are counted.
    pub(super) fn of(place: usize) -> Option<Self> {
        let place = u32::try_from(place).ok()?;
        NonZeroU32::new(place.checked_add(1)?).map(Self)
    }

    pub(super) fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Who stands next to something in a line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Link {
    before: Option<Key>,
    behind: Option<Key>,
}

/// Where something keeps who stands next to it in one of its lines.
pub(super) type LinkOf<E> = fn(&mut E) -> &mut Link;

/// A queue: new members stand last.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    first: Option<Key>,
    last: Option<Key>,
}

impl Line {
    fn join<E>(&mut self, all: &mut Slab<E>, key: Key, link: LinkOf<E>) {
        let before = self.last.replace(key);
        match before.and_then(|before| all.get_mut(before.place())) {
            Some(entry) => link(entry).behind = Some(key),
            None => self.first = Some(key),
        }
        if let Some(entry) = all.get_mut(key.place()) {
            *link(entry) = Link {
                before,
                behind: None,
            };
        }
    }

    fn leave<E>(&mut self, all: &mut Slab<E>, key: Key, link: LinkOf<E>) {
        let Some(entry) = all.get_mut(key.place()) else {
            return;
        };
        let Link { before, behind } = std::mem::take(link(entry));
        match before.and_then(|before| all.get_mut(before.place())) {
            Some(entry) => link(entry).behind = behind,
            None => self.first = behind,
        }
        match behind.and_then(|behind| all.get_mut(behind.place())) {
            Some(entry) => link(entry).before = before,
            None => self.last = before,
        }
    }
}

/// Those that were never used, in the order in which they came, and behind them the others, the longest unused first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Order {
    unused: Line,
    used: Line,
}

impl Order {
    /// The first of all.
    pub(super) fn first(&self) -> Option<Key> {
        self.unused.first.or(self.used.first)
    }

    /// The first of those that were used, or of those that were not.
    pub(super) fn first_of(&self, was_used: bool) -> Option<Key> {
        match was_used {
            true => self.used.first,
            false => self.unused.first,
        }
    }

    pub(super) fn join<E>(&mut self, all: &mut Slab<E>, key: Key, was_used: bool, link: LinkOf<E>) {
        self.line(was_used).join(all, key, link);
    }

    pub(super) fn leave<E>(
        &mut self,
        all: &mut Slab<E>,
        key: Key,
        was_used: bool,
        link: LinkOf<E>,
    ) {
        self.line(was_used).leave(all, key, link);
    }

    fn line(&mut self, was_used: bool) -> &mut Line {
        match was_used {
            true => &mut self.used,
            false => &mut self.unused,
        }
    }
}
