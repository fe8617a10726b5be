//! `allOf`: several object schemas that must all hold, made one.

use std::collections::BTreeMap;

use crate::Error;
use crate::schema::{Additional, JsonType, Node, Schema, schema_error};

/// How deep `$ref` and `allOf` may be nested before a cycle is assumed.
const MAX_DEPTH: usize = 64;

/// Follows `$ref` and joins `allOf`, so that what is left says itself what it is.
pub(super) fn flatten(schema: &Schema, node: &Node) -> Result<Node, Error> {
    joined(schema, node, 0)
}

fn joined(schema: &Schema, node: &Node, depth: usize) -> Result<Node, Error> {
    if depth > MAX_DEPTH {
        return Err(conflict(
            schema,
            node,
            "a `$ref` or `allOf` that ends",
            "a cycle",
        ));
    }
    if let Some(target) = &node.reference {
        return match schema.definitions.get(target) {
            Some(target) => joined(schema, target, depth + 1),
            None => Err(conflict(schema, node, "a definition", "none")),
        };
    }
    if node.all_of.is_empty() {
        return Ok(node.clone());
    }
    let mut whole = Node {
        all_of: Vec::new(),
        ..node.clone()
    };
    for part in &node.all_of {
        let part = joined(schema, part, depth + 1)?;
        whole = intersect(schema, whole, part, depth)?;
    }
    Ok(whole)
}

/// A node that is met by what meets both.
fn intersect(schema: &Schema, left: Node, right: Node, depth: usize) -> Result<Node, Error> {
    if left.is_any() {
        let pointer = left.pointer;
        return Ok(Node { pointer, ..right });
    }
    if right.is_any() || same_facts(&left, &right) {
        return Ok(left);
    }
    if left.is_object() && right.is_object() {
        return join_objects(schema, left, right, depth);
    }
    // A constant or an enumeration is narrower than the plain type it belongs to.
    if narrows(&right, &left) {
        return Ok(right);
    }
    if narrows(&left, &right) {
        return Ok(left);
    }
    Err(conflict(
        schema,
        &left,
        "schemas of `allOf` that the generator can join (objects, or one narrower than the other)",
        &format!("another shape at {}", right.pointer),
    ))
}

fn join_objects(schema: &Schema, left: Node, right: Node, depth: usize) -> Result<Node, Error> {
    let mut properties: BTreeMap<String, Node> = left.properties;
    for (name, theirs) in right.properties {
        let merged = match properties.remove(&name) {
            Some(ours) => {
                let ours = joined(schema, &ours, depth + 1)?;
                let theirs = joined(schema, &theirs, depth + 1)?;
                intersect(schema, ours, theirs, depth)?
            }
            None => theirs,
        };
        properties.insert(name, merged);
    }
    let additional = match (left.additional, right.additional) {
        (Additional::Any, other) | (other, Additional::Any) => other,
        (Additional::Forbidden, _) | (_, Additional::Forbidden) => Additional::Forbidden,
        (Additional::Schema(ours), Additional::Schema(theirs)) if same_facts(&ours, &theirs) => {
            Additional::Schema(ours)
        }
        (Additional::Schema(ours), Additional::Schema(_)) => {
            return Err(conflict(
                schema,
                &ours,
                "one schema for further members",
                "two different ones",
            ));
        }
    };
    Ok(Node {
        types: vec![JsonType::Object],
        properties,
        required: left.required.union(&right.required).cloned().collect(),
        additional,
        deprecated: left.deprecated || right.deprecated,
        pointer: left.pointer,
        ..Node::default()
    })
}

/// Whether a constant or enumeration `narrow` belongs to the plain scalar type of `wide`.
fn narrows(narrow: &Node, wide: &Node) -> bool {
    let plain = wide.constant.is_none() && wide.choices.is_none() && wide.any_of.is_empty();
    let fixed = narrow.constant.is_some() || narrow.choices.is_some();
    plain && fixed && narrow.types == wide.types
}

/// Whether two nodes say the same; where they stand does not matter.
pub(super) fn same_facts(left: &Node, right: &Node) -> bool {
    let same_list = |left: &[Node], right: &[Node]| {
        left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same_facts(l, r))
    };
    left.reference == right.reference
        && left.types == right.types
        && left.constant == right.constant
        && left.choices == right.choices
        && left.required == right.required
        && left.constraints == right.constraints
        && left.properties.len() == right.properties.len()
        && left
            .properties
            .iter()
            .zip(&right.properties)
            .all(|((ln, l), (rn, r))| ln == rn && same_facts(l, r))
        && same_list(&left.any_of, &right.any_of)
        && same_list(&left.all_of, &right.all_of)
        && match (&left.items, &right.items) {
            (None, None) => true,
            (Some(left), Some(right)) => same_facts(left, right),
            _ => false,
        }
        && match (&left.additional, &right.additional) {
            (Additional::Schema(left), Additional::Schema(right)) => same_facts(left, right),
            (left, right) => left == right,
        }
}

fn conflict(schema: &Schema, node: &Node, expected: &str, found: &str) -> Error {
    schema_error(
        &schema.file,
        &node.pointer,
        expected,
        found,
        "join the schemas by hand with an erratum",
    )
}
