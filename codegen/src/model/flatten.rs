//! `allOf`: several object schemas that must all hold, made one.

use std::collections::BTreeMap;

use crate::Error;
use crate::schema::{Additional, JsonType, Node, Schema, schema_error};

/// How deep `$ref` and `allOf` may be nested before a cycle is assumed.
const MAX_DEPTH: usize = 64;

/// How many schemas one `allOf` may be made of, those of its parts and of joined members included.
const MAX_PARTS: usize = 10_000;

/// Follows `$ref` and joins `allOf`, so that what is left says itself what it is.
pub(crate) fn flatten(schema: &Schema, node: &Node) -> Result<Node, Error> {
    Join { schema, parts: 0 }.joined(node, 0)
}

/// One `allOf` on its way to one schema.
struct Join<'s> {
    schema: &'s Schema,
    /// How many schemas were looked at: what two levels name twice each is looked at four times.
    parts: usize,
}

impl Join<'_> {
    fn joined(&mut self, node: &Node, depth: usize) -> Result<Node, Error> {
        self.parts += 1;
        if depth > MAX_DEPTH {
            return Err(self.conflict(
                node,
                "a `$ref` or `allOf` that ends",
                "a cycle, or more than 64 of them",
            ));
        }
        if self.parts > MAX_PARTS {
            let expected = format!("an `allOf` of at most {MAX_PARTS} schemas");
            return Err(self.conflict(node, &expected, "more, counting those of its parts"));
        }
        if let Some(target) = &node.reference {
            return match self.schema.definitions.get(target) {
                Some(target) => self.joined(target, depth + 1),
                None => Err(self.conflict(node, "a definition", "none")),
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
            let part = self.joined(part, depth + 1)?;
            whole = self.intersect(whole, part, depth)?;
        }
        Ok(whole)
    }

    /// A node that is met by what meets both.
    fn intersect(&mut self, left: Node, right: Node, depth: usize) -> Result<Node, Error> {
        if left.is_any() {
            let pointer = left.pointer;
            return Ok(Node { pointer, ..right });
        }
        if right.is_any() || same_facts(&left, &right) {
            return Ok(left);
        }
        if left.is_object() && right.is_object() {
            return self.join_objects(left, right, depth);
        }
        // A constant or an enumeration is narrower than the plain type it belongs to.
        if narrows(&right, &left) {
            return Ok(right);
        }
        if narrows(&left, &right) {
            return Ok(left);
        }
        Err(self.conflict(
            &left,
            "schemas of `allOf` that the generator can join (objects, or one narrower than the other)",
            &format!("another shape at {}", right.pointer),
        ))
    }

    fn join_objects(&mut self, left: Node, right: Node, depth: usize) -> Result<Node, Error> {
        let mut properties: BTreeMap<String, Node> = left.properties;
        for (name, theirs) in right.properties {
            let merged = match properties.remove(&name) {
                // The same twice is left as it is: a reference stays one.
                Some(ours) if same_facts(&ours, &theirs) => ours,
                Some(ours) => {
                    let ours = self.joined(&ours, depth + 1)?;
                    let theirs = self.joined(&theirs, depth + 1)?;
                    self.intersect(ours, theirs, depth + 1)?
                }
                None => theirs,
            };
            properties.insert(name, merged);
        }
        let additional = match (left.additional, right.additional) {
            (Additional::Any, other) | (other, Additional::Any) => other,
            (Additional::Forbidden, _) | (_, Additional::Forbidden) => Additional::Forbidden,
            (Additional::Schema(ours), Additional::Schema(theirs))
                if same_facts(&ours, &theirs) =>
            {
                Additional::Schema(ours)
            }
            (Additional::Schema(ours), Additional::Schema(_)) => {
                let expected = "one schema for further members";
                return Err(self.conflict(&ours, expected, "two different ones"));
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

    fn conflict(&self, node: &Node, expected: &str, found: &str) -> Error {
        schema_error(
            &self.schema.file,
            &node.pointer,
            expected,
            found,
            "join the schemas by hand with an erratum",
        )
    }
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
