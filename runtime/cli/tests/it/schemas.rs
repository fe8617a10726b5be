//! What the program prints as JSON is what the published schemas in `schemas/` say.

use serde_json::Value;

/// Returns the lines of an output, each judged by the schema of this name.
pub(crate) fn rows(schema: &str, output: &str) -> Vec<Value> {
    let path = format!(
        "{}/schemas/{schema}.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let judge = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    let judged = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let faults: Vec<String> = judge
            .iter_errors(&row)
            .map(|fault| fault.to_string())
            .collect();
        assert!(faults.is_empty(), "{schema}: {line}: {faults:?}");
        row
    };
    output.lines().map(judged).collect()
}
