//! `spec errata`: the errata of a revision or of an extension in words, or as a JSON Patch of its schema.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use mcp_revisions_diff::command::CommandOutcome;
use mcp_revisions_schema::spec::{Erratum, Revision, RevisionStage, Spec};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of a revision or an extension [default: the latest release]
    revision: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// JSON Patch: where the file has its definitions; files of draft-07 have them at `definitions`
    #[arg(long, value_enum, default_value = "$defs", value_name = "KEY")]
    definitions: Key,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Each erratum with its reason and source
    Text,
    /// Operations of RFC 6902
    JsonPatch,
}

/// The member of a schema that has its definitions.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Key {
    #[value(name = "$defs")]
    Defs,
    Definitions,
}

pub(super) fn run(arguments: &Arguments, spec: &Spec) -> anyhow::Result<CommandOutcome> {
    let errata = errata_of(spec, arguments.revision.as_deref())?;
    let text = match arguments.format {
        Format::Text => in_words(errata),
        Format::JsonPatch => {
            let patch = patch(errata, arguments.definitions);
            serde_json::to_string_pretty(&patch)? + "\n"
        }
    };
    Ok(CommandOutcome::passed(text))
}

/// Returns the errata of what is named, of the latest release without a name.
fn errata_of<'s>(spec: &'s Spec, name: Option<&str>) -> anyhow::Result<&'s [Erratum]> {
    let Some(name) = name else {
        let is_released = |one: &&Revision| one.status == RevisionStage::Released;
        let latest = spec.revisions.iter().rfind(is_released);
        return Ok(latest.map_or(&[], |latest| &latest.errata));
    };
    let extension = spec.extensions.iter().find(|one| one.is_called(name));
    match extension {
        Some(extension) => Ok(&extension.errata),
        None => Ok(&spec.revision(name)?.errata),
    }
}

fn in_words(errata: &[Erratum]) -> String {
    let mut text = String::new();
    for erratum in errata {
        let Erratum {
            id, reason, source, ..
        } = erratum;
        let _ = writeln!(text, "{id}: {reason} ({source})");
        for pointer in &erratum.at {
            let _ = writeln!(text, "  {pointer}");
        }
    }
    text
}

/// Returns the operations that mend a schema. They do not test what stands there: files have descriptions that `spec/` leaves
/// out.
pub(crate) fn patch(errata: &[Erratum], key: Key) -> Vec<Value> {
    let respelled = |text: &str| match key {
        Key::Defs => text.to_owned(),
        Key::Definitions => text.replace("/$defs/", "/definitions/"),
    };
    let mut operations = Vec::new();
    for erratum in errata {
        for pointer in &erratum.at {
            let path = respelled(pointer);
            operations.push(match (&erratum.replace, &erratum.expect) {
                (None, _) => json!({"op": "remove", "path": path}),
                (Some(value), expect) => {
                    let op = if expect.is_some() { "replace" } else { "add" };
                    json!({"op": op, "path": path, "value": with_references(value, &respelled)})
                }
            });
        }
    }
    operations
}

/// Returns a schema whose references are spelled as those of the file.
fn with_references(value: &Value, respelled: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| {
                    let value = match (name.as_str(), value) {
                        ("$ref", Value::String(target)) => Value::from(respelled(target)),
                        (_, value) => with_references(value, respelled),
                    };
                    (name.clone(), value)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| with_references(item, respelled))
                .collect(),
        ),
        value => value.clone(),
    }
}
