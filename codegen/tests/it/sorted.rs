//! The same steps on a sorted list and on a B-tree of the standard library give the same entries.

use std::collections::{BTreeMap, BTreeSet};

use mcp_schema::sorted::{SortedMap, SortedSet};

use crate::changes::random::Random;

/// How many keys there are: few, so that most steps meet a key that is there.
const KEYS: usize = 24;

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
                let changed = |value: &mut usize| *value += 1;
                let _ = map.entry(key.clone()).and_modify(changed).or_insert(step);
                let _ = tree.entry(key).and_modify(changed).or_insert(step);
            }
            3 => {
                let stays = |value: &mut usize| !value.is_multiple_of(7);
                map.retain(|_, value| stays(value));
                tree.retain(|_, value| stays(value));
            }
            _ => assert_eq!(
                map.insert(key.clone(), step),
                tree.insert(key, step),
                "{step}"
            ),
        }
        let asked = format!("k{}", random.below(KEYS));
        assert_eq!(map.get(&*asked), tree.get(&*asked), "{step}");
        assert!(map.iter().eq(tree.iter()), "{step}: {map:?}\n{tree:?}");
        assert_eq!(format!("{map:?}"), format!("{tree:?}"));
    }
    let collected: SortedMap<String, usize> = tree.clone().into_iter().rev().collect();
    assert_eq!(collected, map);
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(text, serde_json::to_string(&tree).unwrap());
    let read: SortedMap<String, usize> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, map);
}

#[test]
fn sets_are_as_trees_and_so_is_what_two_of_them_make() {
    let mut random = Random::new(2);
    let mut draw = || -> Vec<usize> {
        let count = random.below(KEYS);
        (0..count).map(|_| random.below(KEYS)).collect()
    };
    for _ in 0..500 {
        let [one, other] = [draw(), draw()];
        let sets = [&one, &other].map(|items| items.iter().copied().collect::<SortedSet<_>>());
        let trees = [&one, &other].map(|items| items.iter().copied().collect::<BTreeSet<_>>());
        let ([a, b], [x, y]) = (&sets, &trees);
        assert!(a.iter().eq(x.iter()), "{one:?}");
        assert_eq!((a.first(), a.last()), (x.first(), x.last()));
        assert!(a.union(b).eq(x.union(y)), "{one:?} {other:?}");
        assert!(a.difference(b).eq(x.difference(y)), "{one:?} {other:?}");
        assert!(a.intersection(b).eq(x.intersection(y)), "{one:?} {other:?}");
        assert_eq!(
            (a.is_subset(b), a.is_superset(b), a.is_disjoint(b)),
            (x.is_subset(y), x.is_superset(y), x.is_disjoint(y))
        );
    }
}
