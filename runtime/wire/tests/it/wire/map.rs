//! Maps keep the order of insertion and hold each key once.

use mcp_wire::{Extra, Map, from_str, to_string};

#[test]
fn keeps_the_order() {
    let text = r#"{"z":"1","a":"2","m":"3"}"#;
    let mut map: Map<String> = from_str(text).unwrap();
    assert_eq!(to_string(&map), text);
    assert_eq!(map.insert("a", "4".to_owned()).as_deref(), Some("2"));
    assert_eq!(map.insert("b", "5".to_owned()), None);
    assert_eq!(map.remove("z").as_deref(), Some("1"));
    assert_eq!(map.remove("z"), None);
    assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "m", "b"]);
    assert_eq!(map.values().collect::<Vec<_>>(), ["4", "3", "5"]);
    map.get_mut("m").unwrap().push('!');
    for (_, value) in &mut map {
        value.push('?');
    }
    assert_eq!(format!("{map:?}"), r#"{"a": "4?", "m": "3!?", "b": "5?"}"#);
    map.retain(|key, _| key != "m");
    assert_eq!(
        (
            map.len(),
            map.contains_key("m"),
            map.get("b").map(String::as_str)
        ),
        (2, false, Some("5?"))
    );
    assert_eq!(
        map.into_iter().next(),
        Some(("a".to_owned(), "4?".to_owned()))
    );
}

#[test]
fn collects_each_key_once() {
    for count in [3, 100] {
        let keys = (0..count).chain([1, 0, 1]);
        let map: Map<usize> = keys
            .enumerate()
            .map(|(index, key)| (format!("k{key}"), index))
            .collect();
        assert_eq!(map.len(), count);
        assert_eq!(
            (map.get("k0"), map.get("k1"), map.get("k2")),
            (Some(&(count + 1)), Some(&(count + 2)), Some(&2))
        );
        assert_eq!(map.keys().next(), Some("k0"));
    }
}

#[test]
fn is_equal_in_any_order() {
    let read = |text| from_str::<Extra>(text).unwrap();
    assert_eq!(
        read(r#"{"a":1,"b":{"x":1,"y":2}}"#),
        read(r#"{"b":{"y":2,"x":1.0},"a":1}"#)
    );
    assert_ne!(read(r#"{"a":1,"b":2}"#), read(r#"{"b":1,"a":2}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":1,"b":2}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"b":1}"#));
    assert!(Map::<bool>::new().is_empty() && Extra::default() == read(" { } "));
}
