//! Reading a spec from memory: the laws of errata and of the rule files, each failing with file and line.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_revisions_schema::spec::errors::ErrorRules;
use mcp_revisions_schema::spec::methods::MethodRules;
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage, Spec};
use mcp_revisions_schema::{Error, Revision, SpecDiagnostic};
use serde_json::{Value, json};

use crate::specs::files;

const REVISIONS: &str = r#"
[[revision]]
id = "one"
lifecycle = "handshake"
status = "released"
reference = "https://example.org/one#{anchor}"

[[revision]]
id = "two"
wire = "2"
lifecycle = "per-request"
status = "draft"
"#;

fn schema() -> Value {
    let request = |method: &str| json!({"properties": {"method": {"const": method, "type": "string"}}, "type": "object"});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "PingRequest": request("ping"),
            "PaintRequest": request("wall/paint"),
            "PaintedNotification": request("notifications/painted"),
            "PaintResult": {"properties": {"colours": {"items": {"type": "integer"}, "type": "array"}}, "required": ["colours"], "type": "object"},
            "EmptyResult": {"type": "object"},
            "DryError": {"properties": {"error": {"allOf": [{"properties": {"code": {"const": -7}}}]}}},
            "Union": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        },
    })
}

fn read(extra: &[(&str, &str)]) -> Result<Spec, Error> {
    let schema = schema().to_string();
    let mut all = files(&[
        ("revisions.toml", REVISIONS),
        ("one/schema.json", &schema),
        ("two/schema.json", &schema),
    ]);
    all.extend(files(extra));
    Spec::from_files(all)
}

/// The spec with an erratum of these lines (from line 7 on) in revision `one`.
fn with_erratum(lines: &str) -> Result<Spec, Error> {
    let text = format!(
        "[[erratum]]\nid = \"the-id\"\nreason = \"the reason\"\nsource = \"the page\"\nsince = \"one\"\nuntil = \"one\"\n{lines}\n"
    );
    read(&[("errata.toml", &text)])
}

fn pointer<'a>(revision: &'a Revision, pointer: &str) -> &'a Value {
    revision.schema.pointer(pointer).unwrap()
}

#[test]
fn a_spec_is_read_in_order_with_its_facts() {
    let spec = read(&[("names.toml", "a = 1"), ("shims/one..two.toml", "b = 2")]).unwrap();
    let [one, two] = &spec.revisions[..] else {
        unreachable!()
    };
    for (of, id, wire, lifecycle, status) in [
        (
            one,
            "one",
            "one",
            Lifecycle::Handshake,
            RevisionStage::Released,
        ),
        (two, "two", "2", Lifecycle::PerRequest, RevisionStage::Draft),
    ] {
        assert_eq!((of.id.as_str(), of.wire.as_str()), (id, wire));
        assert_eq!((of.lifecycle, of.status), (lifecycle, status));
    }
    assert_eq!(one.reference, "https://example.org/one#{anchor}");
    assert_eq!(one.definitions().count(), 7);
    assert_eq!(spec.rules.get("names.toml").path, "spec/names.toml");
    assert_eq!(spec.rules.get("shims/one..two.toml").text, "b = 2");
    assert_eq!(spec.rules.get("docs.toml").text, "");
    let unknown = spec.revision("three").unwrap_err().to_string();
    assert_eq!(unknown, "no revision `three`\n  known: one, two");
}

#[test]
fn errata_replace_add_and_remove() {
    let spec = with_erratum(
        r##"at = "/$defs/PaintResult/properties/colours/items/type"
expect = "integer"
replace = "number"

[[erratum]]
id = "add"
reason = "r"
source = "s"
since = "one"
until = "one"
at = ["/$defs/PaintResult/properties/_meta", "/$defs/EmptyResult/additionalProperties"]
expect-absent = true
replace = { "type" = "object" }

[[erratum]]
id = "remove"
reason = "r"
source = "s"
since = "one"
until = "one"
at = "/$defs/PaintResult/required"
expect = ["colours"]
remove = true

[[erratum]]
id = "null, in a list"
reason = "r"
source = "s"
since = "one"
until = "one"
at = "/$defs/Union/anyOf/1"
expect-json = '{"type": "integer"}'
replace-json = '{"const": null}'
"##,
    )
    .unwrap();
    let one = spec.revision("one").unwrap();
    assert_eq!(
        *pointer(one, "/$defs/PaintResult"),
        json!({"properties": {"_meta": {"type": "object"}, "colours": {"items": {"type": "number"}, "type": "array"}}, "type": "object"})
    );
    assert_eq!(
        *pointer(one, "/$defs/Union/anyOf"),
        json!([{"type": "string"}, {"const": null}])
    );
    assert_eq!(
        one.raw
            .pointer("/$defs/PaintResult/properties/colours/items/type"),
        Some(&json!("integer"))
    );
    assert_eq!(one.errata.len(), 4);
    assert!(spec.revision("two").unwrap().errata.is_empty());
}

#[test]
fn an_erratum_that_does_not_apply_is_an_error() {
    let cases = [
        (
            "at = \"/$defs/Nothing/type\"\nexpect = \"x\"\nremove = true",
            "leads nowhere",
        ),
        (
            "at = \"/$defs/PaintResult/type/deeper\"\nexpect = \"x\"\nremove = true",
            "leads nowhere",
        ),
        (
            "at = \"/$defs/Union/anyOf/2\"\nexpect = \"x\"\nreplace = true",
            "found:    nothing",
        ),
        (
            "at = \"/$defs/Union/anyOf/0\"\nexpect = { type = \"string\" }\nremove = true",
            "replace the list as a whole",
        ),
        (
            "at = \"/$defs/PaintResult/type\"\nexpect = \"string\"\nremove = true",
            "expected: \"string\"\n  found:    \"object\"",
        ),
        (
            "at = \"/$defs/PaintResult/type\"\nexpect-absent = true\nreplace = \"string\"",
            "expected: nothing\n  found:    \"object\"",
        ),
        (
            "at = \"/$defs/PaintResult/format\"\nexpect = \"x\"\nremove = true",
            "expected: \"x\"\n  found:    nothing",
        ),
        (
            "at = \"$defs/PaintResult\"\nexpect = \"x\"\nremove = true",
            "leads nowhere",
        ),
        (
            "at = \"\"\nexpect = \"x\"\nremove = true",
            "not a JSON pointer",
        ),
        (
            "at = \"/$defs/PaintResult/type\"\nexpect = \"object\"\nreplace = [\"object\", \"array\"]",
            "not in canonical form",
        ),
        (
            "at = \"/$defs/Union\"\nexpect-json = '{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"integer\"}]}'\nreplace = { \"$ref\" = \"#/$defs/Gone\" }",
            "not a schema",
        ),
    ];
    for (lines, expected) in cases {
        let error = with_erratum(lines).unwrap_err();
        let line = error.diagnostic().and_then(SpecDiagnostic::line);
        assert_eq!(line, Some(2), "{error:?}");
        let message = error.to_string();
        assert!(
            message.starts_with("spec/errata.toml:2: erratum `the-id` of `one`: "),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
        assert!(
            message.contains("reason: the reason") && message.contains("the page"),
            "{message}"
        );
    }
}

#[test]
fn an_erratum_that_does_not_say_what_it_has_to_is_an_error() {
    let place = "at = \"/$defs/PaintResult/type\"\n";
    for (lines, expected) in [
        ("expect = \"object\"".to_owned(), "missing field `at`"),
        (
            format!("{place}expect = \"object\""),
            "exactly one of `replace`",
        ),
        (format!("{place}remove = true"), "exactly one of `expect`"),
        (
            format!("{place}expect = 1\nexpect-absent = true\nremove = true"),
            "exactly one of `expect`",
        ),
        (
            format!("{place}expect = 1\nremove = false"),
            "can only be true",
        ),
        (
            format!("{place}expect-absent = true\nremove = true"),
            "the same",
        ),
        (format!("{place}expect = 1\nreplace = 1"), "the same"),
        (
            format!("{place}expect = nan\nremove = true"),
            "not a JSON number",
        ),
        (
            format!("{place}expect = 2020-01-01\nremove = true"),
            "not JSON",
        ),
        (
            format!("{place}expect-json = '{{'\nremove = true"),
            "not JSON",
        ),
        (
            format!("{place}expect = 1\nrepalce = 2"),
            "unknown field `repalce`",
        ),
        (
            "at = []\nexpect = 1\nremove = true".to_owned(),
            "names no place",
        ),
        (
            format!(
                "{place}expect = \"object\"\nreplace = \"array\"\n[[erratum]]\nid = \"the-id\"\nreason = \"r\"\nsource = \"s\"\nsince = \"one\"\nuntil = \"one\"\n{place}expect = \"array\"\nreplace = \"object\""
            ),
            "has the same id",
        ),
        ("at = [".to_owned(), "spec/errata.toml:"),
    ] {
        let message = with_erratum(&lines).unwrap_err().to_string();
        assert!(
            message.contains("spec/errata.toml:") && message.contains(expected),
            "{lines}: {message}"
        );
    }
}

#[test]
fn all_errata_that_do_not_apply_are_named() {
    let lines = "at = \"/$defs/A\"\nexpect = 1\nremove = true\n[[erratum]]\nid = \"b\"\nreason = \"r\"\nsource = \"s\"\nsince = \"one\"\nuntil = \"one\"\nat = [\"/$defs/B\", \"/$defs/C\"]\nexpect = 1\nremove = true";
    let Error::Many(errors) = with_erratum(lines).unwrap_err() else {
        unreachable!()
    };
    assert_eq!(errors.len(), 3);
}

#[test]
fn a_list_of_revisions_that_cannot_be_one_is_an_error() {
    let row = |id: &str, status: &str| {
        format!("[[revision]]\nid = \"{id}\"\nlifecycle = \"handshake\"\nstatus = \"{status}\"\n")
    };
    for (text, expected) in [
        (row("../up", "released"), "the id cannot name a revision"),
        (row("", "released"), "the id cannot name a revision"),
        (
            format!("{}{}", row("one", "released"), row("one", "draft")),
            "listed twice",
        ),
        (
            format!("{}{}", row("one", "draft"), row("two", "released")),
            "after a draft",
        ),
        (
            format!(
                "{}wire = \"one\"\n{}",
                row("two", "released"),
                row("one", "released")
            ),
            "protocol version",
        ),
        (
            format!("{}sha256 = \"ABC\"\n", row("one", "released")),
            "64 lower-case hex",
        ),
        (
            format!("{}handlers = true\n", row("one", "draft")),
            "handlers are written in it, and it is not released",
        ),
        (
            format!(
                "{}wire = \"1\"\nhandlers = true\n{}handlers = true\n",
                row("one", "released"),
                row("two", "released")
            ),
            "handlers are written in revision `one`, too",
        ),
        (row("one", "done"), "unknown variant"),
        (
            row("one", "released").replace("lifecycle", "aera"),
            "unknown field",
        ),
        (
            row("three", "released"),
            "there is no spec/three/schema.json",
        ),
    ] {
        let message = read(&[("revisions.toml", &text)]).unwrap_err().to_string();
        assert!(
            message.starts_with("spec/revisions.toml:") && message.contains(expected),
            "{text}: {message}"
        );
    }
    let none = Spec::from_files(SortedMap::new()).unwrap_err().to_string();
    assert!(
        none.starts_with("spec/revisions.toml: the list of revisions is missing"),
        "{none}"
    );
}

#[test]
fn hostile_schema_files_are_refused_with_file_and_line() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_object = "{\"not\":".repeat(10_000);
    for (text, expected) in [
        ("", "spec/one/schema.json:1:1: not JSON: the file is empty"),
        (" \n", "the file is empty"),
        ("{}", "spec/one/schema.json#: expected definitions"),
        ("[]", "an object at the top"),
        ("null", "an object at the top"),
        (
            "{\n  \"a\": 1,\n}",
            "spec/one/schema.json:3:1: not JSON: trailing comma",
        ),
        ("{\"a\": 1, \"a\": 2}", "member `a` is given twice"),
        ("{} {}", "trailing characters"),
        ("{\"a\": 1e999}", "out of range"),
        ("\u{feff}{}", "spec/one/schema.json:1:1"),
        ("<html>", "spec/one/schema.json:1:1"),
        (&deep, "at most 127 levels"),
        (&deep_object, "at most 127 levels"),
    ] {
        let message = read(&[("one/schema.json", text)]).unwrap_err().to_string();
        assert!(
            message.starts_with("spec/one/schema.json") && message.contains(expected),
            "{message}"
        );
    }
}

const METHODS: &str = "[[result]]\nmethod = \"ping\"\nresult = \"EmptyResult\"\n[[result]]\nmethod = \"wall/paint\"\nresult = \"PaintResult\"\n";

#[test]
fn methods_are_answered_by_rule_or_by_the_schema() {
    let mut paired = schema();
    paired["$defs"]["PaintResultResponse"] = json!({"properties": {"result": {"anyOf": [{"$ref": "#/$defs/EmptyResult"}, {"$ref": "#/$defs/PaintResult"}]}}});
    let areas = "[areas]\n\"ping\" = \"lifecycle\"\n";
    let files = [
        ("methods.toml", &*format!("{METHODS}{areas}")),
        ("two/schema.json", &*paired.to_string()),
    ];
    let spec = read(&files).unwrap();
    let rules = MethodRules::read(&spec).unwrap();
    let by_rule = rules.result("one", "wall/paint").unwrap();
    assert_eq!(by_rule.result, "PaintResult");
    assert_eq!(by_rule.task_result, None);
    let row = |method: &str, since: &str| {
        format!(
            "[[result]]\nmethod = \"{method}\"\nresult = \"PaintResult\"\nsince = \"{since}\"\n"
        )
    };
    for (methods, says) in [
        (
            row("wall/paint", "two"),
            "the schema of revision `two` says itself what answers it",
        ),
        (
            row("notifications/painted", "one"),
            "revision `one` has no request of that method",
        ),
    ] {
        let files = [
            ("methods.toml", &*methods),
            ("two/schema.json", &*paired.to_string()),
        ];
        let refused = MethodRules::read(&read(&files).unwrap()).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
    let areas = ["ping", "wall/paint", "notifications/painted"].map(|method| rules.area(method));
    assert_eq!(areas, ["lifecycle", "wall", "painted"]);
}

#[test]
fn an_error_rule_that_does_not_hold_is_an_error() {
    let good = "[[error]]\ncode = -7\nname = \"Dry\"\nmeaning = \"m\"\npage = \"p\"\nsince = \"one\"\nuntil = \"one\"\ndefinition = \"DryError\"\n";
    let rules = |text: &str| ErrorRules::read(&read(&[("errors.toml", text)]).unwrap());
    let read = rules(good).unwrap();
    assert_eq!((read.errors[0].code, read.errors[0].send), (-7, true));
    for (text, expected) in [
        (good.replace("\"one\"", "\"three\""), "no revision `three`; known: one, two"),
        (good.replace("since = \"one\"", "since = \"two\""), "`until` is `one`, which stands before `two` in revisions.toml"),
        (good.replace("-7", "-8"), "`DryError` of revision `one` does not state that code"),
        (good.replace("DryError", "GoneError"), "has no definition `GoneError`"),
        (good.replace("\"m\"", "\"\""), "a text is empty"),
        (good.replace("page", "pgae"), "unknown field `pgae`"),
        (format!("{good}{good}"), "spec/errors.toml:9: error -7 `Dry`: another row says it"),
        ("[[range]]\nfrom = 2\nto = 1\nname = \"n\"\nmeaning = \"m\"\npage = \"p\"\nsince = \"one\"\nuntil = \"one\"".to_owned(), "`from` is above `to`"),
    ] {
        let message = rules(&text).unwrap_err().to_string();
        assert!(message.starts_with("spec/errors.toml:") && message.contains(expected), "{text}: {message}");
    }
}
