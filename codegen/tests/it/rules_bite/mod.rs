//! A rule that matches nothing, or that does not find what it expects, fails with its file and its line.
//!
//! Each test has a rule that is of use, which passes, beside one that is not, which bites.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_revisions_schema::Models;
use mcp_revisions_schema::{Error, Spec};

use crate::specs::{files, released};

mod docs;

/// The result of `wall/paint` needs a rule, that of `wall/wash` is paired by the schema.
const METHODS: &str = "[[result]]\nmethod = \"wall/paint\"\nresult = \"Wall\"\n";

const SCHEMA: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "ClientRequest": {"anyOf": [{"$ref": "#/$defs/PaintRequest"}, {"$ref": "#/$defs/WashRequest"}]},
    "PaintRequest": {"type": "object", "properties": {"method": {"const": "wall/paint", "type": "string"}}, "required": ["method"]},
    "WashRequest": {"type": "object", "properties": {"method": {"const": "wall/wash", "type": "string"}}, "required": ["method"]},
    "WashResult": {"type": "object"},
    "WashResultResponse": {"type": "object", "properties": {"result": {"$ref": "#/$defs/WashResult"}}},
    "Wall": {
      "type": "object",
      "properties": {
        "colour": {"type": "string"},
        "paper": {"type": "object", "properties": {"pattern": {"type": "string"}}},
        "notes": {"type": "object"}
      }
    },
    "Brick": {"type": "object", "properties": {"kind": {"type": "string"}, "size": {"type": "string"}}, "required": ["kind", "size"]},
    "Colour": {"type": "string"},
    "Id": {"type": ["string", "integer"]},
    "Short": {"type": "object", "properties": {"a": {"type": "string"}}},
    "Long": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    "Either": {"anyOf": [{"$ref": "#/$defs/Short"}, {"$ref": "#/$defs/Long"}]}
  }
}"##;

/// The files of a spec whose two revisions are alike.
fn made_up(methods: &str) -> SortedMap<String, String> {
    files(&[
        ("revisions.toml", &released(&["old", "new"])),
        ("methods.toml", methods),
        ("old/schema.json", SCHEMA),
        ("new/schema.json", SCHEMA),
    ])
}

/// What is said of a spec with these files: nothing, where all its rules are of use.
fn said(files: &[(&str, &str)]) -> Vec<String> {
    let mut all = made_up(METHODS);
    for (name, text) in files {
        // Rules of the file that stand there already come first.
        all.entry((*name).to_owned()).or_default().push_str(text);
    }
    let outcome = Spec::from_files(all)
        .and_then(|spec| Models::build(&spec).map(|models| Error::of(models.unused_docs())));
    let errors = outcome.unwrap_or_else(Some);
    let errors = errors.iter().flat_map(Error::each);
    errors.map(ToString::to_string).collect()
}

/// The one thing that is said starts like this.
#[track_caller]
fn bites(file: &str, text: &str, start: &str) {
    let said = said(&[(file, text)]);
    let [one] = said.as_slice() else {
        panic!("expected one error, got {said:#?}");
    };
    assert!(one.starts_with(start), "{one}\nis not\n{start}");
}

#[track_caller]
fn passes(file: &str, text: &str) {
    assert_eq!(said(&[(file, text)]), [""; 0]);
}

const NOTHING: &str = "it matches nothing in any revision";

#[test]
fn without_more_rules_nothing_is_said() {
    assert_eq!(said(&[]), [""; 0]);
}

#[test]
fn an_erratum() {
    let erratum = |at: &str, expect: &str| {
        format!(
            "\n[[erratum]]\nid = \"e\"\nreason = \"walls are many\"\nsource = \"the page on walls\"\nsince = \"old\"\nuntil = \"old\"\nat = \"{at}\"\nexpect = \"{expect}\"\nreplace = \"number\"\n"
        )
    };
    let colour = "/$defs/Wall/properties/colour/type";
    passes("errata.toml", &erratum(colour, "string"));
    bites(
        "errata.toml",
        &erratum(colour, "integer"),
        "spec/errata.toml:3: erratum `e` of `old`: another value stands at `/$defs/Wall/properties/colour/type`\n  expected: \"integer\"\n  found:    \"string\"\n  reason: walls are many\n  help: look at the page on walls again",
    );
    bites(
        "errata.toml",
        &erratum("/$defs/Wall/properties/color/type", "string"),
        "spec/errata.toml:3: erratum `e` of `old`: `/$defs/Wall/properties/color/type` leads nowhere",
    );
}

#[test]
fn a_type_rename() {
    passes("names.toml", "[types]\nWall = \"Mural\"\n");
    bites(
        "names.toml",
        "[types]\nWall = \"Mural\"\nFloor = \"Parquet\"\n",
        &format!("spec/names.toml:3: type `Floor`: {NOTHING}"),
    );
}

#[test]
fn what_a_constructor_takes() {
    passes("constructors.toml", "order = [\"size\"]\n");
    bites(
        "constructors.toml",
        "order = [\"size\", \"colour\"]\n",
        &format!("spec/constructors.toml:1: order of `colour`: {NOTHING}"),
    );
    let value = |at: &str, value: &str| {
        format!("[[value]]\nat = \"{at}\"\nvalue = {value}\nreason = \"so it is\"\n")
    };
    passes("constructors.toml", &value("Brick.size", "\"large\""));
    for (at, given) in [("Brick.size", "1"), ("Wall.colour", "\"red\"")] {
        let start = format!("spec/constructors.toml:1: value of `{at}`: {NOTHING}");
        bites("constructors.toml", &value(at, given), &start);
    }
}

/// An extension of one type, whose two texts have no order by themselves.
const TILES: [(&str, &str); 2] = [
    (
        "extensions/tiles/extension.toml",
        "identifier = \"com.example/tiles\"\n\n[[state]]\nid = \"new\"\nstatus = \"released\"\nrevision = \"new\"\nreference = \"https://example.com/tiles\"\n",
    ),
    (
        "extensions/tiles/new/schema.json",
        r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"Tile": {"type": "object", "properties": {"glaze": {"type": "string"}, "make": {"type": "string"}}, "required": ["glaze", "make"]}}}"#,
    ),
];

#[test]
fn what_a_constructor_of_an_extension_takes() {
    let said =
        |text: &str| said(&[&TILES[..], &[("extensions/tiles/constructors.toml", text)]].concat());
    assert_eq!(said(""), [""; 0]);
    let order = "order = [\"make\"]\n";
    let word = "\n[word]\nglaze = \"Title\"\n";
    assert_eq!(said(order), [""; 0]);
    assert_eq!(said(&format!("{order}{word}")), [""; 0]);
    for (text, of) in [
        ("order = [\"make\", \"colour\"]\n", "1: order of `colour`"),
        ("[word]\ncolour = \"Title\"\n", "2: word of `colour`"),
    ] {
        let start = format!("spec/extensions/tiles/constructors.toml:{of}: {NOTHING}");
        let found = said(text);
        assert!(
            found.len() == 1 && found[0].starts_with(&start),
            "{found:#?}"
        );
    }
}

#[test]
fn a_file_that_the_folder_of_an_extension_does_not_have() {
    for file in ["mistakes.toml", "unoins.toml"] {
        let path = format!("extensions/tiles/{file}");
        let found = said(&[&TILES[..], &[(path.as_str(), "")]].concat());
        let start = format!("spec/{path}: the folder of an extension has no such file");
        assert!(
            found.len() == 1 && found[0].starts_with(&start),
            "{found:#?}"
        );
    }
}

#[test]
fn what_stands_for_a_mistake() {
    let row = |at: &str, fate: &str| {
        format!("[[mistake]]\nat = \"{at}\"\n{fate}\nreason = \"so it is\"\nsource = \"a page\"\n")
    };
    let all = ["Brick.size", "*.size", "Brick.*"];
    for at in all {
        passes("mistakes.toml", &row(at, "value = '\"large\"'"));
    }
    let reads = "kind = \"string\"\nreads = '[_]'";
    passes("mistakes.toml", &row("Brick.size", reads));
    passes("mistakes.toml", &row("Brick.size[]", reads));
    let entry = row("Brick.size[]", "value = '1'");
    bites("mistakes.toml", &entry, "spec/mistakes.toml:");
    for at in ["Brick.colour", "*.carpet", "Floor.*"] {
        let start = format!("spec/mistakes.toml:1: mistake `{at}`: {NOTHING}");
        bites("mistakes.toml", &row(at, "keep = \"all\""), &start);
    }
    for fate in [
        "",
        "value = 'large'",
        "value = '1'\nkeep = \"all\"",
        "text = '1'",
        "kind = \"string\"",
        "reads = '[_]'",
        "value = '1'\nkind = \"string\"\nreads = '[_]'",
        "kind = \"list\"\nreads = '[_]'",
        "kind = \"string\"\nreads = '[_'",
    ] {
        bites(
            "mistakes.toml",
            &row("Brick.size", fate),
            "spec/mistakes.toml:",
        );
    }
}

#[test]
fn an_inline_name() {
    let rule = |at: &str| format!("\n[[inline]]\nat = \"{at}\"\nname = \"Paper\"\n");
    passes("names.toml", &rule("Wall.paper"));
    passes("names.toml", &rule("*.paper"));
    for at in ["Wall.carpet", "Floor.paper", "*.carpet", "Wall.colour"] {
        let start = format!("spec/names.toml:2: inline schema `{at}`: {NOTHING}");
        bites("names.toml", &rule(at), &start);
    }
    // The first rule that matches is the one that holds: a later one for the same place is of no use.
    let twice = rule("*.paper") + &rule("Wall.paper");
    bites(
        "names.toml",
        &twice,
        &format!("spec/names.toml:6: inline schema `Wall.paper`: {NOTHING}"),
    );
}

#[test]
fn a_member_name() {
    passes("names.toml", "[members]\ncolour = \"paint\"\n");
    passes("names.toml", "[members]\n\"Wall.colour\" = \"paint\"\n");
    for name in ["color", "Floor.colour", "Wall.color"] {
        bites(
            "names.toml",
            &format!("[members]\n\"{name}\" = \"paint\"\n"),
            &format!("spec/names.toml:2: member `{name}`: {NOTHING}"),
        );
    }
}

#[test]
fn a_runtime_type() {
    let rule = |name: &str, path: &str, kinds: &str| {
        format!("\n[runtime]\n{name} = {{ path = \"{path}\", stands-for = [{kinds}] }}\n")
    };
    let kinds = "\"string\", \"integer\"";
    let path = "mcp_wire::RequestId";
    passes("names.toml", &rule("Id", path, kinds));
    bites(
        "names.toml",
        &rule("RequestId", path, kinds),
        &format!("spec/names.toml:3: runtime type `RequestId`: {NOTHING}"),
    );
    // Both revisions are asked.
    let said_twice = said(&[("names.toml", &rule("Id", path, "\"string\""))]);
    assert_eq!(said_twice.len(), 2, "{said_twice:#?}");
    let start = "#/$defs/Id: expected a string, for which names.toml has `mcp_wire::RequestId`, found a string or an integer";
    assert!(said_twice[0].contains(start), "{said_twice:#?}");
    // A shape answers where the schema says something else, and nowhere else.
    let path = rule("Id", path, "\"string\"");
    let shape = "\n[[shape]]\nat = \"Id\"\nas = \"json\"\nreason = \"theirs\"\n";
    let answered = said(&[("names.toml", &path), ("shapes.toml", shape)]);
    assert_eq!(answered, Vec::<String>::new());
    let odd = said(&[("names.toml", &rule("Id", "mcp wire", kinds))]);
    let start = "spec/names.toml:3: runtime type `Id`: `mcp wire` is not the path of a Rust type";
    assert!(odd[0].starts_with(start), "{odd:#?}");
    let null = said(&[("names.toml", &rule("Id", "mcp_wire::RequestId", "\"null\""))]);
    let start = "spec/names.toml:3: runtime type `Id`: no hand-written type stands for `null`";
    assert!(null[0].starts_with(start), "{null:#?}");
}

#[test]
fn a_shape() {
    let rule = |at: &str, shape: &str| {
        format!("\n[[shape]]\nat = \"{at}\"\nas = \"{shape}\"\nreason = \"theirs\"\n")
    };
    passes("shapes.toml", &rule("Wall.paper", "object"));
    passes("shapes.toml", &rule("*.notes", "map"));
    for (at, shape) in [
        ("Wall.carpet", "object"),
        ("*.carpet", "json"),
        // A map is for objects that name no member.
        ("Wall.paper", "map"),
        ("Wall.colour", "map"),
    ] {
        let start = format!("spec/shapes.toml:2: shape `{at}`: {NOTHING}");
        bites("shapes.toml", &rule(at, shape), &start);
    }
}

#[test]
fn strings_of_which_some_have_names() {
    let rule = |at: &str, shape: &str| {
        format!("\n[[shape]]\nat = \"{at}\"\nas = {shape}\nreason = \"the page names two\"\n")
    };
    let colours = rule("Colour", r#"{ open-enum = ["red", "dark-blue"] }"#);
    passes("shapes.toml", &colours);
    let inline = "\n[[inline]]\nat = \"*.colour\"\nname = \"Colour\"\n";
    let both = [("shapes.toml", colours.as_str()), ("names.toml", inline)];
    assert_eq!(said(&both), [""; 0]);
    // An open enum is a definition of its own, of strings.
    for at in ["Wall.colour", "Id"] {
        let start = format!("spec/shapes.toml:2: shape `{at}`: {NOTHING}");
        bites(
            "shapes.toml",
            &rule(at, r#"{ open-enum = ["red"] }"#),
            &start,
        );
    }
    for known in [r#"["red", "Red"]"#, r#"["other"]"#, "[]"] {
        let shape = format!("{{ open-enum = {known} }}");
        let start = format!(
            "spec/shapes.toml:2: shape `Colour`: {known}: expected strings with distinct Rust names, `Other` not among them"
        );
        bites("shapes.toml", &rule("Colour", &shape), &start);
    }
}

#[test]
fn a_union_rule() {
    let rule = |at: &str, decide: &str| {
        format!("\n[[union]]\nat = \"{at}\"\ndecide = {decide}\nreason = \"long says more\"\n")
    };
    let present = r#"{ present = [{ variant = "Long", member = "b" }, { variant = "Short" }] }"#;
    passes("unions.toml", &rule("Either", present));
    passes(
        "unions.toml",
        &rule("Either", r#"{ method = { alone = "Long" } }"#),
    );
    for at in ["Neither", "Wall", "*.either"] {
        let start = format!("spec/unions.toml:2: union `{at}`: {NOTHING}");
        bites("unions.toml", &rule(at, present), &start);
    }
    for (decide, problem) in [
        (
            r#"{ method = { alone = "Wall" } }"#,
            "no variant `Wall`, which the rule names",
        ),
        (
            r#"{ present = [{ variant = "Wide", member = "b" }, { variant = "Short" }] }"#,
            "no variant `Wide`, which the rule names",
        ),
        (
            r#"{ present = [{ variant = "Long", member = "c" }, { variant = "Short" }] }"#,
            "`Long` has no member `c`",
        ),
        (
            r#"{ present = [{ variant = "Long", member = "b" }] }"#,
            "no row for the variant `Short`",
        ),
        (
            r#"{ present = [{ variant = "Short" }, { variant = "Long", member = "b" }] }"#,
            "the row of `Long` comes twice, or after the one for the rest",
        ),
    ] {
        let said = said(&[("unions.toml", &rule("Either", decide))]);
        let start =
            format!("spec/unions.toml:2: union `Either`: {problem}\n  reason: long says more\n");
        assert_eq!(
            said.len(),
            1,
            "once, though both revisions have it: {said:#?}"
        );
        assert!(said[0].starts_with(&start), "{said:#?}\nis not\n{start}");
    }
}

#[test]
fn a_method_result() {
    let rule = |method: &str, result: &str, more: &str| {
        format!("[[result]]\nmethod = \"{method}\"\nresult = \"{result}\"\n{more}")
    };
    for (method, result, more, problem) in [
        ("wall/lick", "Wall", "", "it matches nothing"),
        // The schema pairs it.
        ("wall/wash", "Wall", "", "it matches nothing"),
        (
            "wall/wash",
            "Wall",
            "since = \"new\"\n",
            "the schema of revision `new` says itself what answers it",
        ),
        (
            "wall/paint",
            "Wall",
            "",
            "another rule says it for revision `old`",
        ),
        (
            "wall/wash",
            "Wall",
            "since = \"latest\"\n",
            "no revision `latest`",
        ),
        (
            "wall/lick",
            "Wall",
            "since = \"old\"\n",
            "revision `old` has no request of that method",
        ),
    ] {
        let said = said(&[("methods.toml", &rule(method, result, more))]);
        let start = format!("spec/methods.toml:5: result of `{method}`: {problem}");
        assert!(said[0].starts_with(&start), "{said:#?}\nis not\n{start}");
    }
}

#[test]
fn a_method_result_that_is_no_definition_and_one_that_is_missing() {
    let with = |methods: &str| {
        let spec = Spec::from_files(made_up(methods)).unwrap();
        Models::build(&spec).unwrap_err().to_string()
    };
    let said = with(&METHODS.replace("Wall", "Floor"));
    let start =
        "spec/methods.toml:2: result of `wall/paint`: revision `old` has no definition `Floor`\n";
    assert!(said.starts_with(start), "{said}");
    let said = with("");
    let start = "spec/new/schema.json#/$defs/PaintRequest: nothing says what answers `wall/paint`\n  help: to settle it, add to spec/methods.toml:\n    [[result]]\n    method = \"wall/paint\"\n    result = \"\"\n    since = \"new\"\n";
    assert!(said.starts_with(start), "{said}");
}

#[test]
fn an_area() {
    let rule = |method: &str, area: &str| format!("[areas]\n\"{method}\" = \"{area}\"\n");
    passes("methods.toml", &rule("wall/paint", "painting"));
    const ODD: &str = "the area is not a file name: expected the name of a module";
    for (method, area, problem) in [
        ("wall/lick", "tongue", "no revision has that method"),
        ("wall/paint", "wall", "it is in that area by default"),
        ("wall/paint", "Wall", ODD),
        ("wall/paint", "lib", ODD),
        ("wall/paint", "type", ODD),
        ("wall/paint", "../wall", ODD),
    ] {
        let start = format!("spec/methods.toml:5: area of `{method}`: {problem}");
        bites("methods.toml", &rule(method, area), &start);
    }
}

#[test]
fn a_key_that_no_rule_file_has_is_refused_with_its_line() {
    for (file, text, start) in [
        (
            "names.toml",
            "\n[kinds]\nA = \"B\"\n",
            "spec/names.toml:2: unknown field `kinds`",
        ),
        (
            "shapes.toml",
            "[[shape]]\nat = \"A\"\nas = \"list\"\nreason = \"r\"\n",
            "spec/shapes.toml:3: unknown variant `list`",
        ),
        (
            "unions.toml",
            "[[union]]\nat = \"A\"\nreason = \"r\"\n",
            "spec/unions.toml:1: missing field `decide`",
        ),
        (
            "docs.toml",
            "[A]\ndocs = \"x\"\n",
            "spec/docs.toml:2: unknown field `docs`",
        ),
        (
            "methods.toml",
            "[[result]]\nmethod = \"wall/wash\"\nresult = \"Wall\"\nnote = 1\n",
            "spec/methods.toml:7: unknown field `note`",
        ),
        ("names.toml", "[types\n", "spec/names.toml:1: "),
    ] {
        bites(file, text, start);
    }
}

/// A name that no Rust can bear is refused where it stands, and nothing panics over it later.
#[test]
fn a_name_that_rust_does_not_take() {
    for name in ["1a", "", "a b", "fn", "a-b"] {
        bites(
            "names.toml",
            &format!("[members]\ncolour = \"{name}\"\n"),
            &format!("spec/names.toml:2: member `colour`: `{name}` is not a name that Rust takes"),
        );
        bites(
            "constructors.toml",
            &format!("[word]\nkind = \"{name}\"\n"),
            &format!("spec/constructors.toml:2: word of `kind`: `{name}` is not a name"),
        );
    }
}

/// Lines of a long file are found at once.
#[test]
fn a_hundred_thousand_rules_without_use_are_told_in_seconds() {
    let rules: String = (0..100_000)
        .map(|at| format!("Floor{at} = \"Parquet{at}\"\n"))
        .collect();
    let said = said(&[("names.toml", &format!("[types]\n{rules}"))]);
    assert_eq!(said.len(), 100_000);
    assert!(said[99_999].contains(":100001: type"), "{}", said[99_999]);
}
