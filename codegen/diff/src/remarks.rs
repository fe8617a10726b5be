//! Notes on an input file: references that other programs do not resolve, and versions of another folder.

use std::path::Path;

use serde_json::Value;

use crate::words::joined;
use mcp_revisions_schema::sorted::SortedSet;

/// Maximum number of references in one note.
const MAX_NAMED: usize = 3;

/// Maximum number of schemas to look at.
const MAX_STEPS: usize = 1_000_000;

/// Returns a note on references to `#/definitions/X` of a file that has `$defs`, or the other way round; `None` if each
/// of them leads somewhere.
pub(super) fn on_references(name: &str, upstream: &Value) -> Option<String> {
    let has = |key: &str| upstream.get(key).is_some();
    let (own, other) = match [has("$defs"), has("definitions")] {
        [true, false] => ("#/$defs/", "#/definitions/"),
        [false, true] => ("#/definitions/", "#/$defs/"),
        _ => return None,
    };
    let mut dangling = SortedSet::new();
    let mut open = vec![upstream];
    for _ in 0..MAX_STEPS {
        match open.pop() {
            None => break,
            Some(Value::Array(items)) => open.extend(items),
            Some(Value::Object(members)) => {
                let target = members
                    .get("$ref")
                    .and_then(Value::as_str)
                    .filter(|target| target.starts_with(other));
                dangling.extend(target.map(str::to_owned));
                open.extend(members.iter().map(|(_, value)| value));
            }
            Some(_) => {}
        }
    }
    if dangling.is_empty() {
        return None;
    }
    let named = dangling.iter().take(MAX_NAMED);
    let named = joined(named.map(|target| format!("`{target}`")), ", ");
    let more = match dangling.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{name}: the definitions are at `{own}`, and {named}{more} leads nowhere: validators reject the schema, and the diff reads the reference as `{own}..`"
    ))
}

/// Returns notes on an `$id` and a `LATEST_PROTOCOL_VERSION` that are not those of the file's folder.
///
/// `beside` reads a file by its path in the same way as the schema was read; `None` if there is none.
pub(super) fn on_versions(
    name: &str,
    upstream: &Value,
    beside: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let path = name.strip_prefix("git:").unwrap_or(name);
    let folder = Path::new(path).parent().and_then(Path::file_name);
    let Some(folder) = folder.and_then(|folder| folder.to_str()) else {
        return Vec::new();
    };
    if folder != "draft" && date(folder).is_none() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let id = upstream.get("$id").and_then(Value::as_str);
    let of_id = id.and_then(|id| {
        id.split('/')
            .find(|part| *part == "draft" || date(part).is_some())
    });
    if let (Some(id), Some(part)) = (id, of_id)
        && part != folder
    {
        notes.push(format!(
            "{name}: `$id` is {id}: expected the folder {folder} in it, found {part}"
        ));
    }
    let source = name
        .strip_suffix(".json")
        .and_then(|stem| beside(&format!("{stem}.ts")));
    let version = source.as_deref().and_then(latest_protocol_version);
    if let Some(version) = version
        && date(version).is_some()
        && version != folder
    {
        notes.push(format!(
            "{name}: LATEST_PROTOCOL_VERSION of the schema.ts beside it is {version}: expected the version of the folder {folder}"
        ));
    }
    notes
}

/// Returns the date that a text begins with, as revisions are called.
fn date(text: &str) -> Option<&str> {
    let begin = text.get(..10)?;
    let is_date = begin.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_date.then_some(begin)
}

/// Returns the value of the constant in a schema.ts.
fn latest_protocol_version(source: &str) -> Option<&str> {
    let (_, rest) = source.split_once("LATEST_PROTOCOL_VERSION")?;
    let (_, rest) = rest.split_once('"')?;
    rest.split('"').next()
}
