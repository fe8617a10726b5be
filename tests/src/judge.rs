//! Whether a text meets the schema of a type, by the `jsonschema` crate: a reader of another hand.

use std::collections::BTreeMap;

use jsonschema::{Registry, ValidationOptions, Validator, draft202012};
use mcp_revisions_schema::Revision;
use mcp_revisions_schema::model::Model;
use serde_json::{Value, json};

use crate::parallel;
use crate::place::{Located, locate};

/// A validator for each type of one revision or extension, errata applied, formats checked.
#[derive(Debug)]
pub struct Judge {
    validators: BTreeMap<String, Validator>,
}

impl Judge {
    /// Prepares the validators of all types of a model.
    ///
    /// # Errors
    /// A type whose place is not in the schema, or a schema that is none.
    pub fn new(revision: &Revision, model: &Model) -> Result<Self, String> {
        Self::of(&revision.id, &revision.schema, model)
    }

    /// Prepares those of the model that was made of a schema; `id` is what errors call it.
    ///
    /// # Errors
    /// As [`Judge::new`].
    pub fn of(id: &str, schema: &Value, model: &Model) -> Result<Self, String> {
        let invalid = |problem: String| format!("{id}: {problem}");
        // Validators refer to the schema, which is checked and prepared once.
        draft202012::meta::validate(schema).map_err(|problem| invalid(problem.to_string()))?;
        let registry = Registry::new().add(SCHEMA, schema);
        let registry = registry
            .and_then(|registry| registry.prepare())
            .map_err(|problem| invalid(problem.to_string()))?;
        let names: Vec<&String> = model.types.keys().collect();
        let built = parallel::map(&names, |name| {
            let located = locate(model, schema, name)?;
            let validator = (options().with_registry(&registry))
                .build(&referring(&located))
                .map_err(|problem| format!("{id} {name}: {problem}"))?;
            Ok::<_, String>(((*name).clone(), validator))
        });
        let validators = built.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { validators })
    }

    /// The value of a text that meets the schema of the type.
    ///
    /// # Errors
    /// Why it does not: every violation with its place.
    pub fn check(&self, type_name: &str, text: &str) -> Result<Value, String> {
        let value: Value = serde_json::from_str(text).map_err(|problem| problem.to_string())?;
        let validator =
            (self.validators.get(type_name)).ok_or_else(|| format!("no schema for {type_name}"))?;
        if validator.is_valid(&value) {
            return Ok(value);
        }
        let errors = validator.iter_errors(&value);
        let lines = errors.map(|error| format!("{}: {error}", error.instance_path()));
        Err(lines.collect::<Vec<_>>().join("; "))
    }

    /// Whether the text is JSON and meets the schema of the type.
    #[must_use]
    pub fn accepts(&self, type_name: &str, text: &str) -> bool {
        let Ok(value) = serde_json::from_str(text) else {
            return false;
        };
        let validator = self.validators.get(type_name);
        validator.is_some_and(|validator| validator.is_valid(&value))
    }
}

/// What the schema is called where validators refer to it.
const SCHEMA: &str = "urn:schema";

/// The schema of a type, by reference.
fn referring(located: &Located) -> Value {
    let (keyword, pointers) = match located {
        Located::AllOf(pointers) => ("allOf", pointers),
        Located::AnyOf(pointers) => ("anyOf", pointers),
    };
    let reference = |pointer: &String| json!({ "$ref": format!("{SCHEMA}#{pointer}") });
    json!({ keyword: pointers.iter().map(reference).collect::<Vec<_>>() })
}

fn options<'i>() -> ValidationOptions<'i> {
    draft202012::options().should_validate_formats(true)
}

/// The validator of a schema that stands alone, formats checked.
pub(crate) fn of_schema(schema: &Value) -> Result<Validator, String> {
    (options().build(schema)).map_err(|problem| problem.to_string())
}
