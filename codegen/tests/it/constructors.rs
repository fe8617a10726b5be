//! What constructors take cannot be said the wrong way round unnoticed.

use std::path::Path;

/// Two texts that stand side by side, as a signature has them.
fn side_by_side(signature: &str) -> Option<&str> {
    let bare = |argument: &str| argument.trim().ends_with(": impl Into<String>");
    let arguments: Vec<&str> = signature.split(',').collect();
    let found = arguments
        .windows(2)
        .find(|pair| pair.iter().all(|it| bare(it)));
    found.map(|pair| pair[0].trim())
}

#[test]
fn no_two_texts_stand_side_by_side() {
    let generated = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated");
    let mut constructors = 0;
    let mut places = vec![generated];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            let entries = place.read_dir().unwrap();
            places.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        if place.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&place).unwrap();
        for constructor in text.split("pub fn new(").skip(1) {
            let (signature, _) = constructor.split_once(") -> Self").unwrap_or_default();
            constructors += 1;
            let help = "give one of the two a word in spec/constructors.toml";
            assert_eq!(side_by_side(signature), None, "{}: {help}", place.display());
        }
    }
    assert!(constructors > 300, "{constructors}");
}
