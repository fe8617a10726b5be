//! Maps and sets in the order of their keys, kept as sorted lists.
//!
//! They have the methods of the standard library's B-trees that this crate calls, and are a tenth of the work for the
//! compiler: the crate has more than a hundred kinds of maps and sets, and as B-trees they were a quarter of its code.
//! A lookup halves the list; a new key that is not the last moves the entries after it.

use std::borrow::Borrow;
use std::fmt;
use std::ops::{Deref, Index};
use std::{slice, vec};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// What a map and a set have in common: they take entries one by one, and give them back in order.
macro_rules! collection {
    ($of:ident<$first:ident $(, $second:ident)?> of $entry:ty) => {
        impl<$first $(, $second)?> Default for $of<$first $(, $second)?> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<$first: Ord $(, $second)?> Extend<$entry> for $of<$first $(, $second)?> {
            fn extend<I: IntoIterator<Item = $entry>>(&mut self, entries: I) {
                for entry in entries {
                    self.put(entry);
                }
            }
        }

        impl<$first: Ord $(, $second)?> FromIterator<$entry> for $of<$first $(, $second)?> {
            fn from_iter<I: IntoIterator<Item = $entry>>(entries: I) -> Self {
                let mut all = Self::new();
                all.extend(entries);
                all
            }
        }

        impl<$first: Ord $(, $second)?, const N: usize> From<[$entry; N]>
            for $of<$first $(, $second)?>
        {
            fn from(entries: [$entry; N]) -> Self {
                entries.into_iter().collect()
            }
        }

        impl<$first $(, $second)?> IntoIterator for $of<$first $(, $second)?> {
            type Item = $entry;
            type IntoIter = vec::IntoIter<$entry>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }
    };
}

collection!(SortedMap < K, V > of(K, V));
collection!(SortedSet<T> of T);

/// A map in the order of its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

/// The entries of a [`SortedMap`], in the order of its keys.
pub type Entries<'m, K, V> =
    std::iter::Map<slice::Iter<'m, (K, V)>, fn(&'m (K, V)) -> (&'m K, &'m V)>;

impl<K, V> SortedMap<K, V> {
    /// Creates an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the entries.
    pub fn iter(&self) -> Entries<'_, K, V> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// Returns the values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// Returns the values, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Returns the values without the keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.0.into_iter().map(|(_, value)| value)
    }

    /// Keeps the entries that `keep` approves.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns where a key is, or where it would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        match self.0.last() {
            // Most keys come in order.
            Some((last, _)) if last.borrow() < key => Err(self.0.len()),
            _ => self
                .0
                .binary_search_by(|(known, _)| known.borrow().cmp(key)),
        }
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Returns a key as the map has it, and its value.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = self.0.get(self.place(key).ok()?)?;
        Some((key, value))
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Returns whether there is a value for a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key, and returns the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    fn put(&mut self, (key, value): (K, V)) {
        self.insert(key, value);
    }

    /// Removes a key, and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key, and returns it with its value.
    pub fn remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        Some(self.0.remove(at))
    }

    /// Returns the place of a key, to fill or change it.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry {
            at: self.place(&key),
            entries: &mut self.0,
            key,
        }
    }
}

/// The place of a key in a [`SortedMap`].
#[derive(Debug)]
pub struct Entry<'m, K, V> {
    entries: &'m mut Vec<(K, V)>,
    at: Result<usize, usize>,
    key: K,
}

impl<'m, K, V> Entry<'m, K, V> {
    /// Returns the value; the one that `make` returns if there was none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'m mut V {
        let at = match self.at {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (self.key, make()));
                at
            }
        };
        &mut self.entries[at].1
    }

    /// Returns the value; this one if there was none.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// Returns the value; the default one if there was none.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value, if there is one.
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(at) = self.at {
            change(&mut self.entries[at].1);
        }
        self
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'m, K, V> IntoIterator for &'m SortedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Entries<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'m, K, V> IntoIterator for &'m mut SortedMap<K, V> {
    type Item = (&'m K, &'m mut V);
    type IntoIter =
        std::iter::Map<slice::IterMut<'m, (K, V)>, fn(&'m mut (K, V)) -> (&'m K, &'m mut V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }
}

/// Indexing panics if the map has no such key, as that of the standard library does.
impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        let (Ok(at) | Err(at)) = self.place(key);
        &self.0[at].1
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Filled(Self::new()))
    }
}

/// A map that is being read.
struct Filled<K, V>(SortedMap<K, V>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Filled<K, V> {
    type Value = SortedMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Self::Value, A::Error> {
        while let Some((key, value)) = entries.next_entry()? {
            self.0.insert(key, value);
        }
        Ok(self.0)
    }
}

/// A set in the order of its items, which can be read as a slice.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SortedSet<T>(Vec<T>);

impl<T> Deref for SortedSet<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> SortedSet<T> {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Keeps the items that `keep` approves.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }
}

impl<T: Ord> SortedSet<T> {
    /// Returns where an item is, or where it would be.
    fn place<Q: Ord + ?Sized>(&self, item: &Q) -> Result<usize, usize>
    where
        T: Borrow<Q>,
    {
        match self.0.last() {
            Some(last) if last.borrow() < item => Err(self.0.len()),
            _ => self.0.binary_search_by(|known| known.borrow().cmp(item)),
        }
    }

    /// Returns whether an item is in the set.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.place(item).is_ok()
    }

    /// Adds an item, and returns whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        match self.place(&item) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, item);
                true
            }
        }
    }

    fn put(&mut self, item: T) {
        self.insert(item);
    }

    /// Removes an item, and returns whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        let place = self.place(item);
        place.map(|at| self.0.remove(at)).is_ok()
    }

    /// Returns whether all items are in another set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|item| other.contains(item))
    }

    /// Returns whether the set has all items of another one.
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Returns whether no item is in another set.
    #[must_use]
    pub fn is_disjoint(&self, other: &Self) -> bool {
        !self.iter().any(|item| other.contains(item))
    }

    /// Returns the items that are not in another set.
    pub fn difference(&self, other: &Self) -> impl Iterator<Item = &T> {
        self.iter().filter(|item| !other.contains(*item))
    }

    /// Returns the items that are in another set, too.
    pub fn intersection(&self, other: &Self) -> impl Iterator<Item = &T> {
        self.iter().filter(|item| other.contains(*item))
    }

    /// Returns the items of two sets, each once.
    pub fn union<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s T> {
        let all: SortedSet<&T> = self.iter().chain(other).collect();
        all.into_iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for SortedSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'s, T> IntoIterator for &'s SortedSet<T> {
    type Item = &'s T;
    type IntoIter = slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
