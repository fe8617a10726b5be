//! A map in a list that is sorted by its keys.

/// Values by key, in the order of the keys.
///
/// A connection has few entries at a time, and those that come last have the greatest numbers: to put one in and to take one
/// out moves next to nothing, and a map that was used once takes no memory again. Many entries cost a move of those behind.
#[derive(Debug)]
pub(crate) struct Sorted<K, V>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> Sorted<K, V> {
    /// Returns the index of a key, or that at which it would be.
    fn place(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(own, _)| own.cmp(key))
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let place = self.place(key).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// Puts a value at a key, and returns the one that was there.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => {
                let (_, own) = self.0.get_mut(place)?;
                Some(std::mem::replace(own, value))
            }
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// Takes out the value of a key.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Returns the values, and ends the map.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.0.into_iter().map(|(_, value)| value)
    }
}
