//! Where a row is: its place on the wire, what holds it, and its line in a file.

use mcp_revisions_schema::diff::{ExchangePart, WirePath, WirePlace, between, compare};
use mcp_revisions_schema::model::Direction;
use mcp_revisions_schema::sorted::SortedMap;

use super::{sources, spec};

/// The places of all rows between adjacent revisions, each with a path that leads to it.
fn places() -> SortedMap<WirePlace, WirePath> {
    let mut all = SortedMap::new();
    for two in spec().revisions.windows(2) {
        let diff = between(sources(), &two[0].id, &two[1].id, false).unwrap();
        let paths = diff.rows.into_iter().flat_map(|row| row.paths);
        all.extend(paths.map(|path| (path.place(), path)));
    }
    all
}

#[test]
fn a_place_holds_another_if_it_is_one_of_its_holders_and_no_others() {
    let all = places();
    // Of every kind that decides: either direction, any method and a named one, the parts, and ways of some length.
    for direction in Direction::ALL {
        for part in [
            ExchangePart::Message,
            ExchangePart::Params,
            ExchangePart::Result,
        ] {
            let is = |path: &&WirePath| path.direction == direction && path.part == part;
            let found = all.values().filter(is).count();
            assert!(found > 1, "{direction:?} {part:?}: {found}");
        }
    }
    let any = all.values().filter(|path| path.method == "*").count();
    assert!(any > 1 && any < all.len(), "{any} of {}", all.len());
    let mut held = 0;
    for one in all.keys() {
        let holders = one.holders();
        for other in all.keys() {
            let holds = other.holds(one);
            held += usize::from(holds && other != one);
            assert_eq!(holds, holders.contains(other), "{other:?}, {one:?}");
        }
    }
    assert!(held > 100, "{held}");
}

#[test]
fn parts_are_found_on_their_lines_and_others_near() {
    // The list of requests makes it a schema of MCP, and stands on the last line.
    let text = concat!(
        "{\n \"definitions\": {\n",
        "  \"A/B\": {\"enum\": [1,\n   {\"y\\\"\": true}]},\n",
        "  \"C\": {\"type\": \"string\"},\n",
        "  \"ClientRequest\": {\"properties\": {\"method\": {\"const\": \"c\"}, \"params\": {\"$ref\": \"#/definitions/C\"}}}\n",
        " },\n \"$schema\": \"http://json-schema.org/draft-07/schema#\"\n}"
    );
    let old = text.replace("string", "integer");
    let side = |name: &str, text: &str| sources().of_text(name, text, true).unwrap();
    let diff = compare(&side("old.json", &old), &side("a.json", text));
    let mut row = diff.rows[0].clone();
    for (pointer, line) in [
        ("/$defs", 2),
        ("/$defs/A~1B", 3),
        ("/$defs/A~1B/enum/0", 3),
        ("/$defs/A~1B/enum/1", 4),
        ("/$defs/A~1B/enum/1/y\"", 4),
        ("/$defs/C", 5),
        ("/$defs/C/gone/too", 5),
        ("/$defs/D", 2),
        ("/elsewhere", 1),
    ] {
        row.after.as_mut().unwrap().pointer = pointer.to_owned();
        let found = diff.location(&row);
        assert_eq!(found, Some(("a.json", line)), "{pointer}");
    }
}
