//! A map of strings to values that remembers the order of insertion.

use std::collections::HashMap;
use std::{fmt, slice, vec};

/// A map with string keys, in insertion order.
///
/// Made for the few members of a JSON object: a lookup walks the entries.
/// An empty map allocates nothing.
#[derive(Clone)]
pub struct Map<T> {
    entries: Vec<(String, T)>,
}

impl<T> Map<T> {
    /// Creates an empty map.
    #[inline]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Creates an empty map with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: Vec::with_capacity(capacity),
        }
    }

    /// Returns the number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.iter()
            .find(|entry| entry.0 == key)
            .map(|entry| entry.1)
    }

    /// Returns the value of `key`, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.iter_mut()
            .find(|entry| entry.0 == key)
            .map(|entry| entry.1)
    }

    /// Returns whether there is a value for `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of `key` and returns the one that it had; a new key goes to the end.
    pub fn insert(&mut self, key: impl Into<String>, value: T) -> Option<T> {
        let key = key.into();
        match self.get_mut(&key) {
            Some(old) => Some(std::mem::replace(old, value)),
            None => {
                self.push(key, value);
                None
            }
        }
    }

    /// Removes `key` and returns its value; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<T> {
        let index = self.entries.iter().position(|entry| entry.0 == key)?;
        Some(self.entries.remove(index).1)
    }

    /// Keeps the entries that `keep` approves.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut T) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// Returns the entries, in insertion order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.entries.iter())
    }

    /// Returns the entries, in insertion order, with values that can be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut(self.entries.iter_mut())
    }

    /// Returns the keys, in insertion order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|entry| entry.0)
    }

    /// Returns the values, in insertion order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> {
        self.iter().map(|entry| entry.1)
    }

    /// Adds an entry whose key is known to be new, or will be checked by [`repeated_key`](Self::repeated_key).
    pub(crate) fn push(&mut self, key: String, value: T) {
        self.entries.push((key, value));
    }

    /// Returns a key that was pushed more than once.
    pub(crate) fn repeated_key(&self) -> Option<&str> {
        repeated(self.len(), &mut self.keys())
    }

    /// Leaves one entry for each key: at the place of the first, with the value of the last.
    fn merge_repeated(&mut self) {
        if self.repeated_key().is_none() {
            return;
        }
        let mut places = HashMap::new();
        for (key, value) in std::mem::take(&mut self.entries) {
            match places
                .get(&key)
                .and_then(|&place| self.entries.get_mut::<usize>(place))
            {
                Some(entry) => entry.1 = value,
                None => {
                    places.insert(key.clone(), self.entries.len());
                    self.entries.push((key, value));
                }
            }
        }
    }
}

/// Returns the one of so many keys that comes twice: for maps of any type, whose code is there once.
fn repeated<'k>(len: usize, all: &mut dyn Iterator<Item = &'k str>) -> Option<&'k str> {
    const FEW: usize = 12;
    if len > FEW {
        return repeated_of_many(all.collect());
    }
    let mut keys = [""; FEW];
    for (slot, key) in keys.iter_mut().zip(all) {
        *slot = key;
    }
    repeated_of_few(keys.get(..len)?)
}

fn repeated_of_few<'k>(keys: &[&'k str]) -> Option<&'k str> {
    let repeated = |(index, key): (usize, &&'k str)| {
        keys.get(..index)
            .is_some_and(|before| before.contains(key))
            .then_some(*key)
    };
    keys.iter().enumerate().find_map(repeated)
}

fn repeated_of_many(mut keys: Vec<&str>) -> Option<&str> {
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [a, b] if a == b => Some(*a),
        _ => None,
    })
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal if the entries are, in any order.
impl<T: PartialEq> PartialEq for Map<T> {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        if self.keys().eq(other.keys()) {
            return self.values().eq(other.values());
        }
        let sorted = |map| {
            let mut entries: Vec<(&str, &T)> = Map::iter(map).collect();
            entries.sort_by_key(|entry| entry.0);
            entries
        };
        sorted(self) == sorted(other)
    }
}

impl<T: Eq> Eq for Map<T> {}

impl<T: fmt::Debug> fmt::Debug for Map<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A key that comes twice keeps its first place and gets the later value.
impl<K: Into<String>, T> Extend<(K, T)> for Map<T> {
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, entries: I) {
        self.entries
            .extend(entries.into_iter().map(|(key, value)| (key.into(), value)));
        self.merge_repeated();
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

/// The entries of a [`Map`].
#[derive(Debug)]
pub struct Iter<'a, T>(slice::Iter<'a, (String, T)>);

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (&'a str, &'a T);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key.as_str(), value))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

/// The entries of a [`Map`], with values that can be changed.
#[derive(Debug)]
pub struct IterMut<'a, T>(slice::IterMut<'a, (String, T)>);

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = (&'a str, &'a mut T);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

impl<T> IntoIterator for Map<T> {
    type Item = (String, T);
    type IntoIter = vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Map<T> {
    type Item = (&'a str, &'a T);
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Map<T> {
    type Item = (&'a str, &'a mut T);
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
