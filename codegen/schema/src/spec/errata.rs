//! Errata: small, reasoned repairs of an upstream schema, each of which fails once it no longer applies.

use crate::pointer;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::canonical::canonicalize;
use super::json::{self, shown};
use super::rules::RuleFile;
use crate::Error;

/// One repair of one revision's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Erratum {
    /// Its name, unique in the revision.
    pub id: String,
    /// Why the schema is wrong there, in our own words.
    pub reason: String,
    /// What says otherwise: a page or a definition of the specification.
    pub source: String,
    /// The JSON pointers into the canonical schema that it changes.
    pub at: Vec<String>,
    /// What has to stand at each of them; none for nothing.
    pub expect: Option<Value>,
    /// What is put there; none takes the member away.
    pub replace: Option<Value>,
    /// The line in errata.toml.
    pub line: usize,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    #[serde(default)]
    erratum: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Row {
    id: Spanned<String>,
    reason: String,
    source: String,
    at: OneOrMany,
    expect: Option<toml::Value>,
    expect_json: Option<String>,
    expect_absent: Option<bool>,
    replace: Option<toml::Value>,
    replace_json: Option<String>,
    remove: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Read the errata of a revision, in the order of the file.
///
/// # Errors
/// [`Error::Toml`] and [`Error::Rule`] for rows that do not say what they have to say.
pub(crate) fn read(file: &RuleFile) -> Result<Vec<Erratum>, Error> {
    let rows: Rows = file.parse()?;
    let mut errata: Vec<Erratum> = Vec::with_capacity(rows.erratum.len());
    let mut errors = Vec::new();
    for row in rows.erratum {
        let offset = row.id.span().start;
        let id = row.id.get_ref().clone();
        let reason = row.reason.clone();
        let twin = errata
            .iter()
            .find(|other| other.id == id)
            .map(|other| other.line);
        let erratum = match twin {
            Some(line) => Err(format!("another erratum, in line {line}, has the same id")),
            None => erratum(row, file.line_of(offset)),
        };
        match erratum {
            Ok(erratum) => errata.push(erratum),
            Err(problem) => {
                errors.push(file.error(offset, format!("erratum `{id}`"), problem, reason, ""))
            }
        }
    }
    Error::check(errors)?;
    Ok(errata)
}

fn erratum(row: Row, line: usize) -> Result<Erratum, String> {
    let Row {
        id,
        reason,
        source,
        at,
        expect,
        expect_json,
        expect_absent,
        replace,
        replace_json,
        remove,
    } = row;
    for (name, text) in [
        ("id", id.get_ref()),
        ("reason", &reason),
        ("source", &source),
    ] {
        if text.trim().is_empty() {
            return Err(format!("`{name}` is empty"));
        }
    }
    let at = match at {
        OneOrMany::One(pointer) => vec![pointer],
        OneOrMany::Many(pointers) => pointers,
    };
    if at.is_empty() {
        return Err("`at` names no place".into());
    }
    let expect = one_of(
        ["expect", "expect-json", "expect-absent"],
        expect,
        expect_json,
        expect_absent,
    )?;
    let replace = one_of(
        ["replace", "replace-json", "remove"],
        replace,
        replace_json,
        remove,
    )?;
    if expect == replace {
        return Err("what it expects and what it puts there are the same".into());
    }
    Ok(Erratum {
        id: id.into_inner(),
        reason,
        source,
        at,
        expect,
        replace,
        line,
    })
}

/// The value of exactly one of three spellings; the third one says that there is none.
fn one_of(
    names: [&str; 3],
    plain: Option<toml::Value>,
    json: Option<String>,
    absent: Option<bool>,
) -> Result<Option<Value>, String> {
    match (plain, json, absent) {
        (Some(value), None, None) => from_toml(value).map(Some),
        (None, Some(text), None) => json::parse(names[1], &text)
            .map(Some)
            .map_err(|error| error.to_string()),
        (None, None, Some(true)) => Ok(None),
        (None, None, Some(false)) => Err(format!("`{}` can only be true", names[2])),
        _ => Err(format!(
            "exactly one of `{}`, `{}` and `{}` has to be given",
            names[0], names[1], names[2]
        )),
    }
}

fn from_toml(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => return Err(format!("`{number}` is not a JSON number")),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => {
            return Err(format!("`{date}` is not JSON; put quotes around it"));
        }
        toml::Value::Array(list) => list
            .into_iter()
            .map(from_toml)
            .collect::<Result<Value, _>>()?,
        toml::Value::Table(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, value)| from_toml(value).map(|value| (key, value)))
                .collect::<Result<_, _>>()?,
        ),
    })
}

/// Apply `errata` to a canonical schema, one after another; the outcome is canonical again.
///
/// # Errors
/// [`Error::Rule`] for each erratum that does not apply, or that leaves the schema in another than the canonical form.
pub(crate) fn apply(
    canonical: &Value,
    errata: &[Erratum],
    file: &RuleFile,
) -> Result<Value, Error> {
    let mut schema = canonical.clone();
    let mut errors = Vec::new();
    for erratum in errata {
        for pointer in &erratum.at {
            if let Err(problem) = put(&mut schema, pointer, erratum) {
                errors.push(failure(file, erratum, problem));
            }
        }
    }
    Error::check(errors)?;
    // The clean one is equal, and in order as well.
    if let Some(clean) = canonicalize(&schema, &file.path)
        .ok()
        .filter(|clean| *clean == schema)
    {
        return Ok(clean);
    }
    // Only now that something is wrong, find out which erratum did it.
    let mut schema = canonical.clone();
    for erratum in errata {
        for pointer in &erratum.at {
            put(&mut schema, pointer, erratum)
                .map_err(|problem| failure(file, erratum, problem))?;
        }
        let problem = match canonicalize(&schema, &file.path) {
            Ok(clean) if clean == schema => continue,
            Ok(_) => "what it puts there is not in canonical form: no prose, `required`, `enum` and `type` sorted".into(),
            Err(error) => format!("what it puts there is not a schema: {error}"),
        };
        return Err(failure(file, erratum, problem));
    }
    Ok(schema)
}

fn failure(file: &RuleFile, erratum: &Erratum, problem: String) -> Error {
    Error::Rule {
        file: file.path.as_str().into(),
        line: erratum.line,
        rule: format!("erratum `{}`", erratum.id).into(),
        revision: None,
        problem: problem.into(),
        reason: erratum.reason.as_str().into(),
        help: format!(
            "look at {} again: if the schema is right now, take the erratum out",
            erratum.source
        )
        .into(),
    }
}

pub(super) fn put(schema: &mut Value, pointer: &str, erratum: &Erratum) -> Result<(), String> {
    let expected = erratum.expect.as_ref();
    let mismatch = |found: Option<&Value>| {
        let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), shown);
        format!(
            "another value stands at `{pointer}`\n  expected: {}\n  found:    {}",
            shown(expected),
            shown(found)
        )
    };
    let unresolved =
        || format!("`{pointer}` leads nowhere: the object that would hold it is not there");
    let (parent, last) = pointer.rsplit_once('/').ok_or_else(|| {
        format!(
            "`{pointer}` is not a JSON pointer to a place below the top: it has to start with `/`"
        )
    })?;
    let name = pointer::unescaped(last);
    match schema.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            if members.get(&name) != expected {
                return Err(mismatch(members.get(&name)));
            }
            match &erratum.replace {
                Some(value) => members.insert(name, value.clone()),
                None => members.remove(&name),
            };
            Ok(())
        }
        Some(Value::Array(list)) => {
            let slot = name
                .parse::<usize>()
                .ok()
                .and_then(|index| list.get_mut(index));
            match (slot, &erratum.replace) {
                (Some(slot), Some(value)) if Some(&*slot) == expected => {
                    *slot = value.clone();
                    Ok(())
                }
                (Some(_), None) => Err(format!(
                    "`{pointer}` is an item of a list; replace the list as a whole"
                )),
                (slot, _) => Err(mismatch(slot.as_deref())),
            }
        }
        Some(_) | None => Err(unresolved()),
    }
}
