//! `allOf`: several object schemas that must all hold, made one.

use crate::sorted::SortedMap;

use crate::schema::{Additional, Constraints, JsonType, Schema, SchemaNode, Unsupported};

/// Maximum depth of `$ref` and `allOf` before a cycle is assumed.
const MAX_DEPTH: usize = 64;

/// Maximum number of schemas in one `allOf`, those of its parts and of joined members included.
const MAX_PARTS: usize = 10_000;

/// Follows `$ref` and joins `allOf`, so that what is left says itself what it is.
pub fn flatten(schema: &Schema, node: &SchemaNode) -> Result<SchemaNode, Unsupported> {
    Join { schema, parts: 0 }.joined(node, 0)
}

/// One `allOf` on its way to one schema.
struct Join<'s> {
    schema: &'s Schema,
    /// Number of schemas looked at: a schema that two levels name twice each is looked at four times.
    parts: usize,
}

impl Join<'_> {
    fn joined(&mut self, node: &SchemaNode, depth: usize) -> Result<SchemaNode, Unsupported> {
        self.parts += 1;
        if depth > MAX_DEPTH {
            let expected = "a `$ref` or `allOf` that ends";
            let found = "a cycle, or more than 64 of them";
            return Err(Unsupported {
                endless: true,
                ..Unsupported::new(node, expected, found)
            });
        }
        if self.parts > MAX_PARTS {
            let expected = format!("an `allOf` of at most {MAX_PARTS} schemas");
            let found = "more, counting those of its parts";
            return Err(Unsupported::new(node, expected, found));
        }
        if let Some(unsupported) = &node.unsupported {
            return Err(Unsupported::clone(unsupported));
        }
        if let Some(target) = &node.reference {
            return match self.schema.definitions.get(target) {
                Some(target) => self.joined(target, depth + 1),
                None => Err(Unsupported::new(node, "a definition", "none")),
            };
        }
        if node.all_of.is_empty() {
            return Ok(node.clone());
        }
        let mut whole = SchemaNode {
            all_of: Vec::new(),
            ..node.clone()
        };
        for part in &node.all_of {
            let part = self.joined(part, depth + 1)?;
            whole = self.intersect(whole, part, depth)?;
        }
        Ok(whole)
    }

    /// Returns a node that is met by what meets both.
    fn intersect(
        &mut self,
        left: SchemaNode,
        right: SchemaNode,
        depth: usize,
    ) -> Result<SchemaNode, Unsupported> {
        let constraints = join_limits(&left.constraints, &right.constraints);
        let deprecated = left.deprecated || right.deprecated;
        let limited = |node: SchemaNode| SchemaNode {
            constraints,
            deprecated,
            ..node
        };
        if left.is_any() {
            let pointer = left.pointer;
            return Ok(limited(SchemaNode { pointer, ..right }));
        }
        if right.is_any() {
            return Ok(limited(left));
        }
        if same_facts(&left, &right) {
            return Ok(limited(left));
        }
        if left.is_object() && right.is_object() {
            return self.join_objects(left, limited(right), depth);
        }
        // A constant or an enumeration is narrower than the plain type it belongs to.
        if narrows(&right, &left) {
            return Ok(limited(right));
        }
        if narrows(&left, &right) {
            return Ok(limited(left));
        }
        if let Some(types) = join_scalars(&left, &right) {
            return Ok(SchemaNode {
                types,
                ..limited(left)
            });
        }
        Err(Unsupported::new(
            &left,
            "schemas of `allOf` that the generator can join (objects, or one narrower than the other)",
            format!("another shape at {}", right.pointer),
        ))
    }

    /// Returns whether a schema admits every object, and another one admits objects only: the other one says all.
    fn admits(
        &mut self,
        any: &SchemaNode,
        other: &SchemaNode,
        depth: usize,
    ) -> Result<bool, Unsupported> {
        let any = self.joined(any, depth + 1)?;
        let anything = SchemaNode {
            types: vec![JsonType::Object],
            pointer: any.pointer.clone(),
            ..SchemaNode::default()
        };
        if !same_facts(&any, &anything) {
            return Ok(false);
        }
        let whole = self.joined(other, depth + 1)?;
        for choice in &whole.any_of {
            if !self.joined(choice, depth + 2)?.is_object() {
                return Ok(false);
            }
        }
        Ok(!whole.any_of.is_empty())
    }

    /// Two objects, of which the second has the limits of both, and is deprecated if one of them is.
    fn join_objects(
        &mut self,
        left: SchemaNode,
        right: SchemaNode,
        depth: usize,
    ) -> Result<SchemaNode, Unsupported> {
        let mut properties: SortedMap<String, SchemaNode> = left.properties;
        for (name, theirs) in right.properties {
            let ours = properties.remove(&name);
            let deprecated = theirs.deprecated || ours.as_ref().is_some_and(|ours| ours.deprecated);
            let merged = match ours {
                // The same twice is left as it is: a reference stays one.
                Some(ours) if same_facts(&ours, &theirs) => ours,
                Some(ours) if self.admits(&ours, &theirs, depth)? => theirs,
                Some(ours) => {
                    let ours = self.joined(&ours, depth + 1)?;
                    let theirs = self.joined(&theirs, depth + 1)?;
                    self.intersect(ours, theirs, depth + 1)?
                }
                None => theirs,
            };
            let deprecated = deprecated || merged.deprecated;
            properties.insert(
                name,
                SchemaNode {
                    deprecated,
                    ..merged
                },
            );
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
                return Err(Unsupported::new(&ours, expected, "two different ones"));
            }
        };
        Ok(SchemaNode {
            types: vec![JsonType::Object],
            properties,
            required: left.required.into_iter().chain(right.required).collect(),
            additional,
            constraints: right.constraints,
            deprecated: right.deprecated,
            pointer: left.pointer,
            ..SchemaNode::default()
        })
    }
}

/// Returns the types of two plain scalars that must both hold; a number that has to be whole is an integer.
fn join_scalars(left: &SchemaNode, right: &SchemaNode) -> Option<Vec<JsonType>> {
    let plain = |node: &SchemaNode| {
        let bare = SchemaNode {
            pointer: String::new(),
            types: Vec::new(),
            constraints: Constraints::default(),
            deprecated: false,
            ..node.clone()
        };
        bare.is_any()
    };
    if !plain(left) || !plain(right) {
        return None;
    }
    match (left.types.as_slice(), right.types.as_slice()) {
        (ours, theirs) if ours == theirs => Some(ours.to_vec()),
        ([JsonType::Integer], [JsonType::Number]) | ([JsonType::Number], [JsonType::Integer]) => {
            Some(vec![JsonType::Integer])
        }
        _ => None,
    }
}

/// Returns the limits of both; of two of one name the tighter one, where they are numbers.
fn join_limits(left: &Constraints, right: &Constraints) -> Constraints {
    let mut values = left.values.clone();
    let mut further = serde_json::Map::new();
    for (name, theirs) in &right.values {
        let tighter = (values.get(name)).map(|ours| Constraints::is_tighter(name, ours, theirs));
        match tighter {
            None | Some(Some(true)) => drop(values.insert(name.clone(), theirs.clone())),
            Some(None) if values.get(name) != Some(theirs) => {
                further.insert(name.clone(), theirs.clone());
            }
            Some(_) => {}
        }
    }
    if !further.is_empty() {
        // Two limits of one name that both hold, such as two patterns.
        let both = values
            .entry("allOf".to_owned())
            .or_insert_with(|| serde_json::Value::Array(Vec::new()));
        if let Some(all) = both.as_array_mut() {
            all.push(serde_json::Value::Object(further));
        }
    }
    Constraints { values }
}

/// Returns whether a constant or enumeration `narrow` belongs to the plain scalar type of `wide`.
fn narrows(narrow: &SchemaNode, wide: &SchemaNode) -> bool {
    let plain = wide.constant.is_none() && wide.choices.is_none() && wide.any_of.is_empty();
    let fixed = narrow.constant.is_some() || narrow.choices.is_some();
    plain && fixed && narrow.types == wide.types
}

/// Returns whether two nodes say the same; where they stand does not matter.
pub(super) fn same_facts(left: &SchemaNode, right: &SchemaNode) -> bool {
    fn same<'n>(
        left: impl ExactSizeIterator<Item = &'n SchemaNode>,
        right: impl ExactSizeIterator<Item = &'n SchemaNode>,
    ) -> bool {
        left.len() == right.len() && left.zip(right).all(|(left, right)| same_facts(left, right))
    }
    left.reference == right.reference
        && left.unsupported.is_none()
        && right.unsupported.is_none()
        && left.types == right.types
        && left.constant == right.constant
        && left.choices == right.choices
        && left.required == right.required
        && left.constraints == right.constraints
        && left.properties.keys().eq(right.properties.keys())
        && same(left.properties.values(), right.properties.values())
        && same(left.any_of.iter(), right.any_of.iter())
        && same(left.all_of.iter(), right.all_of.iter())
        && same(
            left.items.iter().map(|it| &**it),
            right.items.iter().map(|it| &**it),
        )
        && match (&left.additional, &right.additional) {
            (Additional::Schema(left), Additional::Schema(right)) => same_facts(left, right),
            (left, right) => left == right,
        }
}
