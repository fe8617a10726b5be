//! Where a row is: its line in a file.

use mcp_revisions_diff::compare;

use super::sources;

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
