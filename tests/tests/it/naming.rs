//! Names tell types apart, and comments open with their subject: counts in `tests/words.toml` that do not rise.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mcp_tests::root;
use regex::Regex;

use crate::words::{data, sources};

/// Names that each module or command may have.
const SHARED_NAMES: [&str; 3] = ["Error", "Result", "Arguments"];

/// The places of each offence in hand-written sources, by its name in `tests/words.toml`.
fn offences(sources: &[(String, String)]) -> BTreeMap<&'static str, Vec<String>> {
    static TYPE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) ([A-Z]\w*)|^(?:pub(?:\([^)]*\))? )?type ([A-Z]\w*)")
            .unwrap()
    });
    static OPENING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*//[/!]? ?(?:What|Whether|Who|Whose|Whom|Which|Where|How|That)\b").unwrap()
    });
    static BOOLEAN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*(?:true|false) (?:if .*)?=>").unwrap());
    static SHADOW: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*let (?:mut )?(\w+)(?:: [^=]+)? = (?:&?mut |&)?(\w+)[.?]").unwrap()
    });
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (file, text) in sources {
        // Tests within a file are not part of what its readers have to tell apart.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
        for (at, line) in text.lines().enumerate() {
            let place = format!("{file}:{}: {}", at + 1, line.trim());
            if let Some(hit) = TYPE.captures(line) {
                let name = hit.get(1).or(hit.get(2)).unwrap().as_str();
                types
                    .entry(name.to_owned())
                    .or_default()
                    .push(place.clone());
            }
            if OPENING.is_match(line) {
                all.entry("openings").or_default().push(place.clone());
            }
            if BOOLEAN.is_match(line) {
                all.entry("boolean-arms").or_default().push(place.clone());
            }
            if SHADOW.captures(line).is_some_and(|hit| hit[1] == hit[2]) {
                all.entry("shadows").or_default().push(place);
            }
        }
    }
    let repeated = types
        .into_iter()
        .filter(|(name, places)| places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()));
    let repeated = repeated.map(|(name, places)| format!("{name}: {}", places.join(", ")));
    all.insert("type-names", repeated.collect());
    all
}

#[test]
fn no_count_of_unclear_names_and_openings_rises() {
    let is_by_hand = |(file, _): &(String, String)| {
        !["generated/", "tests/"]
            .iter()
            .any(|folder| file.starts_with(folder))
            && !file.contains("/examples/")
    };
    let all: Vec<(String, String)> = sources(&root()).into_iter().filter(is_by_hand).collect();
    let offences = offences(&all);
    let data = data();
    let limits = data["at-most"].as_table().unwrap();
    for (name, limit) in limits {
        let places = offences.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        let limit = usize::try_from(limit.as_integer().unwrap()).unwrap();
        assert!(
            places.len() <= limit,
            "{name}: {}, and tests/words.toml allows {limit}\n{}",
            places.len(),
            places.join("\n")
        );
    }
    assert_eq!(limits.len(), 4, "every count has a limit");
}

#[test]
fn each_offence_is_counted_where_it_stands() {
    let source = "/// What it is.\npub struct Open;\n// Where it goes.\nfn f() {\n    match is {\n        true => 1,\n        false => 2,\n    };\n    let all = all.iter();\n    let one = other.iter();\n}\n";
    let sources = ["a.rs", "b.rs"].map(|file| (file.to_owned(), source.to_owned()));
    let found = offences(&sources);
    let counts: Vec<(&str, usize)> = found
        .iter()
        .map(|(name, places)| (*name, places.len()))
        .collect();
    assert_eq!(
        counts,
        [
            ("boolean-arms", 4),
            ("openings", 4),
            ("shadows", 2),
            ("type-names", 1)
        ]
    );
}
