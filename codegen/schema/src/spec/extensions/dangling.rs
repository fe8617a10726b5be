//! References of a schema to what it does not define, and the erratum that mends each target.

use serde_json::Value;

use super::super::canonical::dangling_references;
use crate::pointer::{of_fragment, unescaped};

/// A place that a schema refers to and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dangling {
    /// The reference as it is written: `#/$defs/Name`.
    pub reference: String,
    /// The JSON pointers of the schemas that hold it.
    pub at: Vec<String>,
    /// The definition that generators of schemas wrote into another one instead, where one has the name.
    pub inner: Option<Value>,
}

impl Dangling {
    /// Returns the pointer of the missing definition; `None` for a reference into one.
    pub fn definition(&self) -> Option<String> {
        let pointer = of_fragment(self.reference.strip_prefix('#')?)?;
        let name = pointer.strip_prefix("/$defs/")?;
        (!name.contains('/')).then_some(pointer)
    }
}

/// Returns a schema without its references to nothing.
pub fn without_dangling(schema: &Value) -> Value {
    let mut mended = schema.clone();
    let _ = taken_out(&mut mended, schema);
    mended
}

/// Takes references to nothing out of a schema: any JSON is valid there. Each target is returned once; `raw` is searched for
/// the definitions that should have been there.
pub(super) fn taken_out(schema: &mut Value, raw: &Value) -> Vec<Dangling> {
    let mut all: Vec<Dangling> = Vec::new();
    for (pointer, fragment) in dangling_references(schema) {
        let at = pointer.strip_suffix("/$ref").unwrap_or(&pointer).to_owned();
        if let Some(Value::Object(holder)) = schema.pointer_mut(&at) {
            holder.remove("$ref");
        }
        let reference = format!("#{fragment}");
        match all.iter_mut().find(|one| one.reference == reference) {
            Some(one) => one.at.push(at),
            None => {
                let mut one = Dangling {
                    reference,
                    at: vec![at],
                    inner: None,
                };
                let name = one.definition();
                one.inner =
                    name.and_then(|name| inner(raw, &unescaped(name.strip_prefix("/$defs/")?)));
                all.push(one);
            }
        }
    }
    all
}

/// Finds a definition of that name within another one.
fn inner(schema: &Value, name: &str) -> Option<Value> {
    let definitions = schema.get("$defs")?.as_object()?;
    let mut found = definitions
        .values()
        .filter_map(|of| of.get("$defs")?.get(name));
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.clone())
}
