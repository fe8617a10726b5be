//! Where schemas stand in a schema: what a name means depends on what it stands in.

use mcp_convert::pointer_to;
use serde_json::{Map, Value};

/// What the value of a keyword holds.
enum SchemaContent {
    /// A schema.
    One,
    /// A schema, or a list of them.
    OneOrList,
    /// Schemas under names that are not keywords.
    Named,
    /// No schema: data, texts, numbers.
    Data,
}

/// By keyword, in any dialect; an unknown one holds data.
fn holds(keyword: &str) -> SchemaContent {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => SchemaContent::One,
        "allOf" | "anyOf" | "items" | "oneOf" | "prefixItems" => SchemaContent::OneOrList,
        // `dependencies` holds lists of names, too, which are passed over.
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties"
        | "properties" => SchemaContent::Named,
        _ => SchemaContent::Data,
    }
}

/// Returns the pointers of the schemas right below a schema.
pub(crate) fn below(schema: &Map<String, Value>) -> impl Iterator<Item = String> {
    schema.iter().flat_map(|(keyword, value)| {
        let at = pointer_to(keyword);
        match (holds(keyword), value) {
            (SchemaContent::One, _) => vec![at],
            (SchemaContent::OneOrList, Value::Array(items)) => (0..items.len())
                .map(|index| format!("{at}/{index}"))
                .collect(),
            (SchemaContent::OneOrList, _) => vec![at],
            (SchemaContent::Named, Value::Object(named)) => {
                let names = named.keys().map(|name| pointer_to(name));
                names.map(|name| format!("{at}{name}")).collect()
            }
            (SchemaContent::Named | SchemaContent::Data, _) => Vec::new(),
        }
    })
}
