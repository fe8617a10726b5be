//! The same steps on a sorted list and on a B-tree of the standard library give the same entries.

use std::collections::{BTreeMap, BTreeSet};

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use crate::changes::random::Random;

/// How many keys there are: few, so that most steps meet a key that is there.
const KEYS: usize = 24;

/// What indexing gives; `None` if it panics.
fn index(read: impl Fn() -> usize) -> Option<usize> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).ok()
}

#[test]
fn a_map_is_as_a_tree_after_each_step() {
    let mut random = Random::new(1);
    let mut map: SortedMap<String, usize> = SortedMap::new();
    let mut tree: BTreeMap<String, usize> = BTreeMap::new();
    for step in 0..5_000 {
        let key = format!("k{}", random.below(KEYS));
        match random.below(6) {
            0 => assert_eq!(map.remove(&*key), tree.remove(&*key), "{step}"),
            1 => {
                let value = *tree.entry(key.clone()).or_insert(step);
                *map.entry(key).or_default() = value;
            }
            2 => {
                *map.entry(key.clone()).or_insert(step) += 1;
                *tree.entry(key).or_insert(step) += 1;
            }
            3 => {
                map.retain(|_, value| !value.is_multiple_of(7));
                tree.retain(|_, value| !value.is_multiple_of(7));
            }
            _ => assert_eq!(
                map.insert(key.clone(), step),
                tree.insert(key, step),
                "{step}"
            ),
        }
        let asked = format!("k{}", random.below(KEYS));
        assert_eq!(map.get(&*asked), tree.get(&*asked), "{step}");
        assert_eq!(index(|| map[&*asked]), index(|| tree[&*asked]), "{step}");
        assert!(map.keys().eq(tree.keys()), "{step}: {map:?}\n{tree:?}");
        assert!(map.values().eq(tree.values()), "{step}: {map:?}\n{tree:?}");
    }
    let collected: SortedMap<String, usize> = tree.clone().into_iter().rev().collect();
    assert_eq!(collected, map);
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(text, serde_json::to_string(&tree).unwrap());
    let read: SortedMap<String, usize> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, map);
}

#[test]
fn a_set_is_as_a_tree_after_each_step() {
    let mut random = Random::new(2);
    let mut set: SortedSet<usize> = SortedSet::new();
    let mut tree: BTreeSet<usize> = BTreeSet::new();
    for step in 0..5_000 {
        let item = random.below(KEYS);
        match random.below(3) {
            0 => assert_eq!(set.remove(&item), tree.remove(&item), "{step}"),
            _ => assert_eq!(set.insert(item), tree.insert(item), "{step}"),
        }
        let asked = random.below(KEYS);
        assert_eq!(set.contains(&asked), tree.contains(&asked), "{step}");
        assert!(set.iter().eq(tree.iter()), "{step}: {set:?}\n{tree:?}");
    }
}
