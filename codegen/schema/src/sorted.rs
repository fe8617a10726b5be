//! Maps and sets in the order of their keys, kept as sorted lists and read as slices.
//!
//! They have the methods of the standard library's B-trees that change a collection or look for a key, and are a tenth
//! of the work for the compiler: the crate has more than a hundred kinds of maps and sets, and as B-trees they were a
//! quarter of its code. The flat map of the `litemap` crate sorts what is collected, which is more code for each kind,
//! and reads and writes JSON differently.
//! A lookup halves the list; a new key that is not the last moves the entries after it.

use std::borrow::Borrow;
use std::ops::{Deref, Index};
use std::{fmt, slice, vec};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// A map in the order of its keys, which can be read as a slice of its entries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

/// A set in the order of its items, which can be read as a slice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SortedSet<T>(Vec<T>);

/// The common part of a map and a set: they take entries one by one, and are read and given back in order.
macro_rules! collection {
    ($of:ident<$first:ident $(, $second:ident)?> of $entry:ty) => {
        impl<$first $(, $second)?> $of<$first $(, $second)?> {
            /// Creates an empty collection.
            pub const fn new() -> Self {
                Self(Vec::new())
            }
        }

        impl<$first $(, $second)?> Default for $of<$first $(, $second)?> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<$first $(, $second)?> Deref for $of<$first $(, $second)?> {
            type Target = [$entry];

            fn deref(&self) -> &[$entry] {
                &self.0
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

        impl<$first $(, $second)?> IntoIterator for $of<$first $(, $second)?> {
            type Item = $entry;
            type IntoIter = vec::IntoIter<$entry>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }

        impl<'a, $first $(, $second)?> IntoIterator for &'a $of<$first $(, $second)?> {
            type Item = &'a $entry;
            type IntoIter = slice::Iter<'a, $entry>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }
    };
}

collection!(SortedMap < K, V > of(K, V));
collection!(SortedSet<T> of T);

/// Returns the index of a key among entries, or that at which it would be.
fn place<E, K: Borrow<Q>, Q: Ord + ?Sized>(
    entries: &[E],
    of: impl Fn(&E) -> &K,
    key: &Q,
) -> Result<usize, usize> {
    match entries.last() {
        // Most keys come in order.
        Some(last) if of(last).borrow() < key => Err(entries.len()),
        _ => entries.binary_search_by(|known| of(known).borrow().cmp(key)),
    }
}

impl<K, V> SortedMap<K, V> {
    /// Returns the keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries, with values to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Returns the values without the keys.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// Keeps the entries that `keep` approves.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        place(&self.0, |(known, _)| known, key)
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &self.0[at].1)
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &mut self.0[at].1)
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
        self.place(key).ok().map(|at| self.0.remove(at).1)
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
}

/// Indexing panics if the map has no such key, as that of the standard library does.
impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        // A key that is not there stands behind all entries.
        let at = self.place(key).unwrap_or(self.len());
        &self.0[at].1
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(key, value)| (key, value)))
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

impl<T: Ord> SortedSet<T> {
    /// Keeps the items that `keep` approves.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    /// Returns the index of an item, or that at which it would be.
    fn place<Q: Ord + ?Sized>(&self, item: &Q) -> Result<usize, usize>
    where
        T: Borrow<Q>,
    {
        place(&self.0, |known| known, item)
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
        let place = self.place(&item);
        place.map_err(|at| self.0.insert(at, item)).is_err()
    }

    fn put(&mut self, item: T) {
        self.insert(item);
    }

    /// Removes an item, and returns whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.place(item).map(|at| self.0.remove(at)).is_ok()
    }
}
