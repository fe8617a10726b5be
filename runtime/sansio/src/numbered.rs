//! A map by the numbers that a connection gives out, in their order.

use std::iter;

use slab::Slab;

use super::ask::Token;
use super::events::Exchange;
use super::sorted::Sorted;

/// A key that is a number.
pub trait NumberedKey: Copy {
    /// Returns the number.
    fn number(self) -> u64;
}

impl NumberedKey for Token {
    fn number(self) -> u64 {
        self.0
    }
}

impl NumberedKey for Exchange {
    fn number(self) -> u64 {
        self.0
    }
}

/// An id of a request of our own is never negative; one that a peer made up meets no entry.
impl NumberedKey for i64 {
    fn number(self) -> u64 {
        self.cast_unsigned()
    }
}

impl NumberedKey for u64 {
    fn number(self) -> u64 {
        self
    }
}

/// Values by number, in the order of the numbers.
///
/// The numbers lead to places and not to values, so that their code is compiled once for all the maps of a connection: those of
/// a `BTreeMap` each were a third of this crate. The values stay where they are while others come and go. An empty map is a
/// word, because most maps of most sessions are empty. No iterator here is a `flat_map`, which costs a tenth of the crate's
/// build.
#[derive(Debug)]
pub struct Numbered<K, V>(Option<Box<NumberedEntries<K, V>>>);

#[derive(Debug)]
struct NumberedEntries<K, V> {
    places: Sorted<u64, usize>,
    values: Slab<(K, V)>,
}

impl<K, V> Default for Numbered<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K, V> Default for NumberedEntries<K, V> {
    fn default() -> Self {
        let (places, values) = (Sorted::default(), Slab::new());
        Self { places, values }
    }
}

impl<K: NumberedKey, V> Numbered<K, V> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |entries| entries.values.len())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether a number is taken.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Returns the value of a number.
    pub fn get(&self, key: &K) -> Option<&V> {
        let entries = self.0.as_ref()?;
        let (_, value) = entries.values.get(*entries.places.get(&key.number())?)?;
        Some(value)
    }

    /// Returns the value of a number, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entries = self.0.as_mut()?;
        let (_, value) = (entries.values).get_mut(*entries.places.get(&key.number())?)?;
        Some(value)
    }

    /// Puts a value at a number, and returns the one that was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let entries = self.0.get_or_insert_default();
        let place = entries.values.insert((key, value));
        let before = entries.places.insert(key.number(), place)?;
        entries.values.try_remove(before).map(|(_, value)| value)
    }

    /// Takes out what stands under a number.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let entries = self.0.as_mut()?;
        let place = entries.places.remove(&key.number())?;
        entries.values.try_remove(place).map(|(_, value)| value)
    }

    /// Returns all of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let entries = self.0.as_deref();
        let mut places = entries.map(|entries| entries.places.values());
        let places = iter::from_fn(move || places.as_mut()?.next());
        let found = places.filter_map(move |&place| entries?.values.get(place));
        found.map(|(key, value)| (key, value))
    }

    /// Returns the first number whose value is the one looked for.
    pub fn find(&self, mut is_it: impl FnMut(&V) -> bool) -> Option<K> {
        let mut entries = self.iter();
        entries.find(|(_, value)| is_it(value)).map(|(key, _)| *key)
    }

    /// Returns all numbers whose values are looked for.
    pub fn find_all(&self, mut is_it: impl FnMut(&V) -> bool) -> Vec<K> {
        let entries = self.iter().filter(|(_, value)| is_it(value));
        entries.map(|(key, _)| *key).collect()
    }

    /// Returns the numbers.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns all of them.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the values in any order, to be changed where they are.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let mut values = self.0.as_mut().map(|entries| entries.values.iter_mut());
        iter::from_fn(move || values.as_mut()?.next()).map(|(_, (_, value))| value)
    }

    /// Removes the values that do not pass, asked in any order.
    pub fn retain(&mut self, mut stays: impl FnMut(&K, &mut V) -> bool) {
        let Some(entries) = &mut self.0 else { return };
        let places = &mut entries.places;
        entries.values.retain(|_, (key, value)| {
            let stays = stays(key, value);
            if !stays {
                places.remove(&key.number());
            }
            stays
        });
    }

    /// Returns the values with their numbers, and ends the map.
    pub fn into_entries(self) -> impl Iterator<Item = (K, V)> {
        let NumberedEntries { places, mut values } = self.0.map(|it| *it).unwrap_or_default();
        places
            .into_values()
            .filter_map(move |place| values.try_remove(place))
    }

    /// Returns the values, and ends the map.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_entries().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbered;

    fn of(entries: &[(u64, &'static str)]) -> Numbered<u64, &'static str> {
        let mut map = Numbered::default();
        for (number, value) in entries {
            map.insert(*number, *value);
        }
        map
    }

    #[test]
    fn values_come_in_the_order_of_their_numbers_whatever_came_and_went_before() {
        let mut map = of(&[(3, "c"), (1, "a"), (2, "b")]);
        assert_eq!(map.remove(&1), Some("a"));
        map.insert(9, "i");
        map.insert(4, "d");
        assert_eq!(map.keys().copied().collect::<Vec<_>>(), [2, 3, 4, 9]);
        assert_eq!(
            map.values().copied().collect::<Vec<_>>(),
            ["b", "c", "d", "i"]
        );
        assert_eq!(map.find(|value| *value > "b"), Some(3));
        assert_eq!(map.into_values().collect::<Vec<_>>(), ["b", "c", "d", "i"]);
    }

    #[test]
    fn a_value_takes_the_place_of_the_one_with_its_number() {
        let mut map = of(&[(1, "a"), (2, "b")]);
        assert_eq!(map.insert(1, "A"), Some("a"));
        assert_eq!((map.len(), map.get(&1)), (2, Some(&"A")));
        assert_eq!(map.remove(&1), Some("A"));
        assert_eq!(
            (map.remove(&1), map.contains_key(&1), map.len()),
            (None, false, 1)
        );
    }

    #[test]
    fn what_does_not_stay_is_not_found_any_more() {
        let mut map = of(&[(1, "a"), (2, "b"), (3, "c")]);
        map.retain(|number, _| number % 2 == 1);
        assert_eq!(map.keys().copied().collect::<Vec<_>>(), [1, 3]);
        assert_eq!((map.get(&2), map.get(&3)), (None, Some(&"c")));
        // The next value lies where the removed one did, and is not found by its number.
        map.insert(4, "d");
        assert_eq!((map.get(&2), map.get(&4)), (None, Some(&"d")));
        assert!(!map.is_empty());
    }
}
