//! A real schema, changed as the authors of a draft change it.

use serde_json::{Value, json};

/// The schema of the newest revision, ready to be changed.
pub(crate) struct Draft(pub(crate) Value);

impl Draft {
    /// A place of the schema, by its pointer below `$defs`.
    pub(crate) fn at(&mut self, pointer: &str) -> &mut Value {
        let pointer = format!("/$defs/{pointer}");
        match self.0.pointer_mut(&pointer) {
            Some(value) => value,
            None => panic!("the schema has no {pointer}: the change needs another place"),
        }
    }

    /// Puts a member into an object of the schema.
    pub(crate) fn put(&mut self, pointer: &str, name: &str, value: Value) {
        self.at(pointer)[name] = value;
    }

    /// Adds an item to a list of the schema.
    pub(crate) fn push(&mut self, pointer: &str, value: Value) {
        self.at(pointer).as_array_mut().unwrap().push(value);
    }

    /// Takes a member out of an object of the schema.
    pub(crate) fn take(&mut self, pointer: &str, name: &str) -> Value {
        let members = self.at(pointer).as_object_mut().unwrap();
        members.remove(name).expect(name)
    }

    pub(crate) fn define(&mut self, name: &str, schema: Value) {
        self.0["$defs"][name] = schema;
    }

    pub(crate) fn drop(&mut self, name: &str) -> Value {
        let definitions = self.0["$defs"].as_object_mut().unwrap();
        definitions.remove(name).expect(name)
    }

    /// Renames a definition, and whatever refers to it.
    pub(crate) fn rename(&mut self, old: &str, new: &str) {
        let definition = self.drop(old);
        self.define(new, definition);
        let new = json!({"$ref": format!("#/$defs/{new}")});
        self.replace_references(old, &new);
    }

    /// Writes a definition out wherever it is referred to, and drops it.
    pub(crate) fn inline(&mut self, name: &str) {
        let definition = self.drop(name);
        self.replace_references(name, &definition);
    }

    /// Gives an inline schema a name, and refers to it.
    pub(crate) fn extract(&mut self, pointer: &str, name: &str) {
        let schema = std::mem::replace(self.at(pointer), reference(name));
        self.define(name, schema);
    }

    /// Makes one definition of two: the members of both, and what both require.
    pub(crate) fn merge(&mut self, first: &str, second: &str, merged: &str) {
        let (mut one, two) = (self.drop(first), self.drop(second));
        for (name, schema) in two["properties"].as_object().unwrap() {
            one["properties"][name] = schema.clone();
        }
        let theirs = two["required"].as_array().cloned().unwrap_or_default();
        if let Some(required) = one["required"].as_array_mut() {
            required.retain(|name| theirs.contains(name));
        }
        self.define(merged, one);
        for name in [first, second] {
            self.replace_references(name, &reference(merged));
        }
    }

    fn replace_references(&mut self, name: &str, with: &Value) {
        let old = reference(name);
        every(&mut self.0, &mut |node| {
            if *node == old {
                *node = with.clone();
            }
        });
    }
}

/// Visits every value of a document, outer ones first.
pub(crate) fn every(value: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values_mut().for_each(|inner| every(inner, visit)),
        Value::Array(items) => items.iter_mut().for_each(|inner| every(inner, visit)),
        _ => {}
    }
}

pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}
