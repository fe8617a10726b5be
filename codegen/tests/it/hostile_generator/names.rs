//! Names that Rust refuses, that meet, or that hide another one.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::hostile_generator::{
    generated, helpful, object, reference, refused, refused_at, string, within,
};
use crate::workspace::Workspace;

/// Names that trouble somebody, the same in every run.
struct Dice(Rng);

impl Dice {
    /// A name of up to six pieces, each known to trouble somebody.
    fn name(&mut self) -> String {
        const PIECES: &[&str] = &[
            "a", "A", "b", "B", "1", "0", "_", "-", "/", ".", " ", "", "self", "Self", "type",
            "fn", "ABc", "aBC", "Abc", "ALL", "new", "extra", "object", "reader", "member", "r#",
            "$", "~", "%20", "½", "²", "é", "ß", "ǆ", "漢", "😀", "\u{301}", "\u{202e}", "\r",
            "\n", "\t", "\0", "\"", "\\", "*/", "//", "{}", "<T>", "'", "#", "Unknown", "Option",
            "N", "Nameless",
        ];
        let pieces = self.0.usize(..6);
        (0..=pieces)
            .map(|_| PIECES[self.0.usize(..PIECES.len())])
            .collect()
    }

    fn names(&mut self, most: usize) -> Vec<String> {
        let count = self.0.usize(..most);
        let mut names: Vec<String> = (0..=count).map(|_| self.name()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// What is generated parses, since emission formats it; what is not is refused with help.
#[test]
fn no_choice_of_strings_makes_typify_or_us_panic() {
    let (mut dice, mut made) = (Dice(Rng::with_seed(0x2545_F491_4F6C_DD1D)), 0);
    for _ in 0..400 {
        let choices = dice.names(4);
        match generated(&json!({"A": {"type": "string", "enum": choices}})) {
            Ok(generated) if !generated.decisions.is_empty() => {}
            Ok(generated) => {
                made += 1;
                let text = &generated.files["src/wire/messages.rs"];
                let lines = text.lines().filter(|line| line.ends_with("\";"));
                assert_eq!(lines.count(), choices.len(), "{choices:?}: {text}");
            }
            Err(error) => drop(helpful(&error)),
        }
    }
    assert!((100..400).contains(&made), "{made} of 400 were made");
    // Different to us, and one name to typify, which then gives up.
    for choices in [["ABc", "aBC"], ["fooBar1", "fooBAR1"], ["a1b", "a1B"]] {
        generated(&json!({"A": {"enum": choices}})).unwrap();
    }
}

#[test]
fn no_names_of_members_and_definitions_make_us_panic() {
    let (mut dice, mut made) = (Dice(Rng::with_seed(0x9E37_79B9_7F4A_7C15)), 0);
    for _ in 0..400 {
        let members: Vec<(String, Value)> = (dice.names(4).into_iter())
            .map(|name| {
                let schema = match dice.0.usize(..4) {
                    0 => json!({"const": "c", "type": "string"}),
                    1 => json!({"type": "object", "properties": {"x": {"type": "string"}}}),
                    _ => string(),
                };
                (name, schema)
            })
            .collect();
        let members: Vec<(&str, Value)> = (members.iter())
            .map(|(name, schema)| (name.as_str(), schema.clone()))
            .collect();
        let required: Vec<&str> = (members.iter().map(|(name, _)| *name))
            .filter(|_| dice.0.usize(..2) == 0)
            .collect();
        let mut definitions = Map::new();
        definitions.insert(dice.name(), object(&members, &required));
        definitions.insert(dice.name(), string());
        match generated(&Value::Object(definitions)) {
            Ok(one) => made += usize::from(one.decisions.is_empty()),
            Err(error) => drop(helpful(&error)),
        }
    }
    assert!((100..400).contains(&made), "{made} of 400 were made");
}

#[test]
fn a_member_without_a_name_in_rust() {
    for member in ["extra", "½"] {
        let stub = format!("add to spec/names.toml:\n    [[member]]\n    at = \"A.{member}\"\n");
        let said = refused(&json!({"A": object(&[(member, string())], &[])}));
        assert!(said.contains(&stub), "{said}");
    }
}

#[test]
fn the_same_schema_twice_is_one_type() {
    let inner = object(&[("x", string())], &[]);
    generated(&json!({"Tool": object(&[("hints", inner.clone())], &[]), "ToolHints": inner}))
        .unwrap();
}

#[test]
fn names_that_generated_code_or_its_user_needs() {
    for name in [
        "Option", "Vec", "String", "Box", "Result", "Iterator", "Send", "Sized", "Drop", "Tag",
        "Kind", "Paths", "Members", "Reader", "Json", "Integer", "Number", "Map", "TypeInfo",
        "METHODS", "TYPES", "REVISION", "½",
    ] {
        let mut definitions = Map::new();
        definitions.insert(
            name.to_owned(),
            object(&[("n", json!({"type": "integer"}))], &[]),
        );
        let at = format!("/$defs/{name}");
        refused_at(
            &definitions.into(),
            &at,
            "add to spec/names.toml:\n    [[type]]\n",
        );
    }
    // The tag-less union of a request called like the case for what is unknown.
    let message = |method: &str| {
        object(
            &[("method", json!({"const": method, "type": "string"}))],
            &["method"],
        )
    };
    let unknown = json!({
        "ClientNotification": {"anyOf": [reference("UnknownNotification"), reference("OtherNotification")]},
        "UnknownNotification": message("notifications/a/unknown"),
        "OtherNotification": message("notifications/a/other"),
    });
    refused_at(&unknown, "/$defs/ClientNotification", "found `Unknown`");
}

#[test]
fn five_thousand_choices_and_two_hundred_members() {
    let choices: Vec<String> = (0..5000).map(|at| format!("choice {at}")).collect();
    let many = json!({"A": {"enum": choices}});
    within(60, move || generated(&many).unwrap());
    let of = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("m{at}")).collect();
        let members: Vec<(&str, Value)> = (names.iter())
            .map(|name| (name.as_str(), string()))
            .collect();
        json!({"A": object(&members, &[])})
    };
    generated(&of(128)).unwrap();
    refused_at(&of(200), "/$defs/A", "at most 128 named members, found 200");
    refused_at(
        &of(200),
        "/$defs/A",
        "add to spec/shapes.toml:\n    [[shape]]\n    at = \"A\"",
    );
}

/// What is odd but accepted compiles, without a warning.
#[test]
fn odd_but_accepted_compiles() {
    let inline = (0..20).fold(string(), |inner, _| object(&[("x", inner)], &["x"]));
    let words: Vec<String> = [
        "object",
        "reader",
        "member",
        "writer",
        "value",
        "members",
        "fault",
        "self",
        "type",
        "name",
        "a\rb",
        "c\n    d*/",
        "e\u{202e}f",
        "g\0h",
        "\"i\\",
        "[j](k)",
        "1",
        "漢字",
        "$ref",
        "None",
    ]
    .map(str::to_owned)
    .to_vec();
    let members: Vec<(&str, Value)> = (words.iter())
        .map(|word| (word.as_str(), string()))
        .collect();
    let constants: Vec<(&str, Value)> = (["½", "extra", "new"].into_iter())
        .map(|word| (word, json!({"const": word, "type": "string"})))
        .collect();
    let definitions = json!({
        "Words": object(&members, &["object", "member", "self"]),
        "Constants": object(&constants, &["½", "extra", "new"]),
        "Choices": {"enum": words},
        "Nothing": {"type": "object", "additionalProperties": false},
        "Deep": inline,
        "Prose": {"type": "string", "description": "a\rb\u{202e}c\n\n    code {\n*/ [x](y) \\ ``` `unclosed\n# h"},
        "a\rb\n/ c~d%20": {"type": "integer"},
        "": {"type": "boolean"},
        "Empty": {"enum": [""]},
        "Capitals": {"enum": ["ALL", "aB2C"]},
        "Optional": object(&[("any", reference("Any")), ("none", json!({"type": ["string", "null"]}))], &["none"]),
        "Any": {},
        "Loop": object(&[("loop", reference("Loop")), ("more", json!({"anyOf": [reference("Loop"), {"type": "null"}]}))], &["more"]),
        "Mixed": {"anyOf": [{"type": ["string", "null", "integer"]}, {"type": "boolean"}]},
        "Lists": {"anyOf": [{"type": "array", "items": reference("Words")}, {"type": "array", "items": string()}]},
    });
    let generated = match generated(&definitions) {
        Ok(generated) => generated,
        Err(error) => panic!("{error}"),
    };
    let mut workspace = Workspace::new("hostile");
    workspace.add("odd", &generated);
    if let Err(said) = workspace.cargo(&["clippy"]) {
        panic!("{said}");
    }
}
