//! Two schema files, as a pull request brings them: compared, shown in each format, and told without a refusal that no text shows.

use std::sync::OnceLock;

use mcp_revisions_diff::render::{json, markdown, text};
use mcp_revisions_diff::{ComparedEnd, SideSources, compare};
use mcp_revisions_schema::Spec;

use super::{Signature, Target, digest, expect_json, kind_of};

pub(super) const DIFF: Target = Target {
    name: "diff",
    corpus,
    run,
};

/// Stands between the two files.
const BETWEEN: &str = "\n---\n";

/// Shapes of a value with each keyword that refuses some.
const SHAPES: &[&str] = &[
    r#"{"type":"string"}"#,
    r#"{"type":"string","maxLength":3,"pattern":"^a"}"#,
    r#"{"type":"number","multipleOf":0.5,"minimum":1}"#,
    r#"{"type":"array","prefixItems":[{"type":"string"},{"const":1}],"items":false,"contains":{"const":1},"maxContains":2}"#,
    r#"{"type":"object","properties":{"a":{"enum":["x","<b>`"]}},"required":["a"],"additionalProperties":{"type":"null"}}"#,
    r#"{"type":"object","patternProperties":{"^x-":false},"propertyNames":{"maxLength":4},"dependentRequired":{"a":["b"]}}"#,
    r#"{"type":"integer","if":{"minimum":5},"then":{"maximum":9},"else":{"not":{"const":3}},"nullable":true}"#,
    r##"{"anyOf":[{"type":"null"},{"$ref":"#/$defs/ProbeRequest"}]}"##,
    r#"{"enum":["x\n```\nfn main() {}\n```\n","\u001b[2J\u202e","</pre><script>"],"description":"x\n```\nfn main() {}\n```\n"}"#,
];

/// Members of a message beside its method and params.
const BESIDE: &[&str] = &[
    "",
    r#""priority":{"type":"integer"},"#,
    r#""id":{"type":["string","integer"]},"jsonrpc":{"const":"2.0"},"#,
    r#""id":{"type":"string"},"jsonrpc":{"const":"3.0"},"#,
];

fn corpus() -> Vec<Vec<u8>> {
    let schemas = schemas();
    let next = schemas.iter().cycle().skip(1);
    let pairs = schemas.iter().zip(next);
    pairs
        .map(|(old, new)| [old, BETWEEN.as_bytes(), new].concat())
        .collect()
}

/// A schema per shape, with a request that carries a value of it and has other members beside its params.
pub(super) fn schemas() -> Vec<Vec<u8>> {
    let schema = |(shape, beside): (&&str, &&str)| {
        format!(
            r##"{{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{{"ClientRequest":{{"anyOf":[{{"$ref":"#/$defs/ProbeRequest"}}]}},"ProbeRequest":{{"type":"object","properties":{{{beside}"method":{{"const":"probe","type":"string"}},"params":{{"type":"object","properties":{{"value":{shape}}}}}}},"required":["method"]}}}}}}"##
        )
    };
    let pairs = SHAPES.iter().zip(BESIDE.iter().cycle());
    pairs.map(schema).map(String::into_bytes).collect()
}

fn run(input: &[u8]) -> Result<Signature, String> {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    let spec = SPEC.get_or_init(|| {
        let spec = Spec::read(&mcp_tests::root().join("spec"));
        spec.unwrap_or_else(|error| unreachable!("spec/ is read by each build: {error}"))
    });
    let sources = SideSources::read(spec).map_err(|error| error.to_string())?;
    let input = String::from_utf8_lossy(input);
    let (old, new) = input.split_once(BETWEEN).unwrap_or((&input, ""));
    let sides = (
        sources.of_text("old.json", old, false),
        sources.of_text("new.json", new, false),
    );
    let (old, new) = match sides {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => return Ok(kind_of(&error.to_string())),
    };
    for side in [&old, &new] {
        if let Some(row) = compare(side, side).rows.first() {
            return Err(format!("a file differs from itself: {row:?}"));
        }
    }
    let diff = compare(&old, &new);
    for row in &diff.rows {
        let verdicts = [
            (ComparedEnd::Old, row.verdicts.old_to_new),
            (ComparedEnd::New, row.verdicts.new_to_old),
        ];
        for (sender, verdict) in verdicts {
            let is_shown = row.witnesses.iter().any(|one| one.valid_in == sender);
            if is_shown == verdict.valid {
                return Err(format!(
                    "a refusal and no text, or a text and no refusal: {row:?}"
                ));
            }
        }
    }
    let document = json::diff(&diff).map_err(|error| error.to_string())?;
    expect_json(&document, "the diff")?;
    let shown = markdown::render(&diff) + &text::render(&diff, text::TextOptions::default());
    if shown.contains('\u{1b}') {
        return Err("a text of a schema steers the terminal".to_owned());
    }
    let kinds: Vec<&str> = diff.rows.iter().map(|row| row.kind.id()).collect();
    Ok(digest(kinds.join(",").as_bytes()))
}
