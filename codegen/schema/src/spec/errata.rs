//! Errata: small, reasoned repairs of an upstream schema, each of which fails once it no longer applies.

use crate::pointer;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::RevisionStage;
use super::canonical::canonicalize_as;
use super::json::{self, shown};
use super::range::{Order, ends_before};
use super::rules::RuleFile;
use crate::one_or_many::OneOrMany;
use crate::{Error, FileLocation, SpecDiagnostic};

/// One repair of one revision's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Erratum {
    /// Its name, unique in the revision.
    pub id: String,
    /// Why the schema is wrong there, in our own words.
    pub reason: String,
    /// The evidence against the schema: a page or a definition of the specification.
    pub source: String,
    /// The revisions whose schemas have the defect, oldest first.
    pub revisions: Vec<String>,
    /// The JSON pointers into the canonical schema that it changes.
    pub at: Vec<String>,
    /// The value expected at each of them; `None` if there is none.
    pub expect: Option<Value>,
    /// The new value; without one the member is taken away.
    pub replace: Option<Value>,
    /// The line in errata.toml.
    pub line: usize,
}

impl Erratum {
    /// Returns whether it is of a revision; one of a schema without revisions is of that schema.
    pub fn holds(&self, id: &str) -> bool {
        self.revisions.is_empty() || self.revisions.iter().any(|of| of == id)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErratumTables {
    #[serde(default)]
    erratum: Vec<ErratumRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ErratumRow {
    id: Spanned<String>,
    reason: String,
    source: String,
    since: Option<String>,
    until: Option<String>,
    at: OneOrMany<String>,
    expect: Option<toml::Value>,
    expect_json: Option<String>,
    expect_absent: Option<bool>,
    replace: Option<toml::Value>,
    replace_json: Option<String>,
    remove: Option<bool>,
}

/// Read the errata of all revisions, in the order of the file; without an order, those of one schema, which have no range.
/// Fails for rows that do not say what they have to say, with the line of each.
pub(crate) fn read(file: &RuleFile, order: Option<&Order>) -> Result<Vec<Erratum>, Error> {
    let rows: ErratumTables = file.parse()?;
    let mut errata: Vec<Erratum> = Vec::with_capacity(rows.erratum.len());
    let mut errors = Vec::new();
    for row in rows.erratum {
        let offset = row.id.span().start;
        let (id, reason) = (row.id.get_ref().clone(), row.reason.clone());
        let range = match (order, &row.since, &row.until) {
            (Some(order), Some(since), until) => order.range(since, until.as_deref()),
            (Some(order), None, None) if order.is_of_states() => {
                order.range(order.first().unwrap_or_default(), None)
            }
            (Some(_), None, _) => Err("`since` says from which revision on it holds".to_owned()),
            (None, None, None) => Ok(Vec::new()),
            (None, _, _) => Err("the schema that it is of has no revisions".to_owned()),
        };
        let read = range.and_then(|revisions| {
            let twin = errata.iter().find(|other| {
                other.id == id && (order.is_none() || revisions.iter().any(|of| other.holds(of)))
            });
            match twin.map(|other| other.line) {
                Some(line) => Err(format!(
                    "another erratum, in line {line}, has the same id in one of its revisions"
                )),
                None => erratum(row, revisions, file.line_of(offset)),
            }
        });
        let wrong = |problem| {
            errors.push(file.error(offset, format!("erratum `{id}`"), problem, reason, ""))
        };
        errata.extend(read.map_err(wrong));
    }
    Error::check(errors)?;
    Ok(errata)
}

fn erratum(row: ErratumRow, revisions: Vec<String>, line: usize) -> Result<Erratum, String> {
    for (name, text) in [
        ("id", row.id.get_ref()),
        ("reason", &row.reason),
        ("source", &row.source),
    ] {
        if text.trim().is_empty() {
            return Err(format!("`{name}` is empty"));
        }
    }
    let at = row.at.all().to_vec();
    if at.is_empty() {
        return Err("`at` names no place".into());
    }
    let names = ["expect", "expect-json", "expect-absent"];
    let expect = one_of(names, row.expect, row.expect_json, row.expect_absent)?;
    let names = ["replace", "replace-json", "remove"];
    let replace = one_of(names, row.replace, row.replace_json, row.remove)?;
    if expect == replace {
        return Err("what it expects and what it puts there are the same".into());
    }
    Ok(Erratum {
        id: row.id.into_inner(),
        reason: row.reason,
        source: row.source,
        revisions,
        at,
        expect,
        replace,
        line,
    })
}

/// Returns the value of exactly one of three spellings; the third one says that there is none.
fn one_of(
    [of_toml, of_json, of_none]: [&str; 3],
    plain: Option<toml::Value>,
    json: Option<String>,
    absent: Option<bool>,
) -> Result<Option<Value>, String> {
    match (plain, json, absent) {
        (Some(value), None, None) => from_toml(value).map(Some),
        (None, Some(text), None) => match json::parse(of_json, &text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.to_string()),
        },
        (None, None, Some(true)) => Ok(None),
        (None, None, Some(false)) => Err(format!("`{of_none}` can only be true")),
        _ => Err(format!(
            "exactly one of `{of_toml}`, `{of_json}` and `{of_none}` has to be given"
        )),
    }
}

fn from_toml(value: toml::Value) -> Result<Value, String> {
    use toml::Value as Toml;
    Ok(match value {
        Toml::String(text) => text.into(),
        Toml::Integer(number) => number.into(),
        Toml::Float(number) if number.is_finite() => number.into(),
        Toml::Float(number) => return Err(format!("`{number}` is not a JSON number")),
        Toml::Boolean(flag) => flag.into(),
        Toml::Datetime(date) => return Err(format!("`{date}` is not JSON; put quotes around it")),
        Toml::Array(list) => (list.into_iter().map(from_toml)).collect::<Result<_, _>>()?,
        Toml::Table(table) => {
            let member = |(key, value)| Ok((key, from_toml(value)?));
            (table.into_iter().map(member)).collect::<Result<_, String>>()?
        }
    })
}

/// A schema after its errata.
pub struct Applied {
    /// The schema, in canonical form.
    pub(crate) schema: Value,
    /// The errata, without those of which nothing applied.
    pub(crate) errata: Vec<Erratum>,
    /// The errata passed over in a draft, each place with the failure that it is elsewhere.
    pub passed: Vec<Error>,
}

/// Applies those of `errata` that hold for a revision to its canonical schema, one after another; the outcome is canonical again.
///
/// A draft moves: what has the defect no more there is passed over, as long as another revision or place has it. Fails for each
/// erratum that does not apply, or that leaves the schema in another than the canonical form.
pub fn apply(
    canonical: &Value,
    errata: &[Erratum],
    file: &RuleFile,
    id: &str,
    status: RevisionStage,
) -> Result<Applied, Error> {
    let is_draft = status == RevisionStage::Draft;
    let (mut errors, mut passed) = (Vec::new(), Vec::new());
    let mut tell = |problems: Vec<Problem<'_>>| {
        for (erratum, whole, problem) in problems {
            let mut of = failure(file, erratum, id, status, problem);
            // An erratum that holds at other places cannot be ended as a whole.
            of.revision = (whole || is_draft).then(|| id.into());
            let begins = erratum.revisions.first().is_some_and(|since| since == id);
            if is_draft && !(whole && begins) {
                passed.push(of.into())
            } else {
                errors.push(of.into())
            }
        }
        Error::check(std::mem::take(&mut errors))
    };
    let own = errata.iter().filter(|erratum| erratum.holds(id));
    let (mended, applied, problems) = put_all(canonical, own);
    tell(problems)?;
    let (schema, errata, problems) = clean(canonical, mended, applied, &file.path);
    tell(problems)?;
    Ok(Applied {
        schema,
        errata,
        passed,
    })
}

/// Applies the errata that fit a schema, at the places that they fit; returns the schema, and those.
pub fn fitting(schema: Value, errata: &[Erratum], file: &str) -> (Value, Vec<Erratum>) {
    let (mended, applied, _) = put_all(&schema, errata);
    let (schema, fitting, _) = clean(&schema, mended, applied, file);
    (schema, fitting)
}

/// An erratum that does not apply at some of its places, or at none of them if the flag is set, with the reason.
type Problem<'e> = (&'e Erratum, bool, String);

/// Puts errata into a schema at the places where they apply; returns it, those that apply anywhere, and what does not apply.
fn put_all<'e>(
    schema: &Value,
    errata: impl IntoIterator<Item = &'e Erratum>,
) -> (Value, Vec<&'e Erratum>, Vec<Problem<'e>>) {
    let mut corrected = schema.clone();
    let (mut applied, mut all) = (Vec::new(), Vec::new());
    for erratum in errata {
        let places = erratum.at.iter();
        let problems: Vec<String> = places
            .filter_map(|pointer| put(&mut corrected, pointer, erratum).err())
            .collect();
        let whole = problems.len() == erratum.at.len();
        if !whole {
            applied.push(erratum);
        }
        all.extend((problems.into_iter()).map(|problem| (erratum, whole, problem)));
    }
    (corrected, applied, all)
}

/// Leaves out those errata without which a mended schema is in canonical form; returns it, the others, and what is wrong.
fn clean<'e>(
    canonical: &Value,
    mended: Value,
    errata: Vec<&'e Erratum>,
    file: &str,
) -> (Value, Vec<Erratum>, Vec<Problem<'e>>) {
    if errata.is_empty() {
        return (mended, Vec::new(), Vec::new());
    }
    // The clean one is equal, and in order as well.
    let again = |schema: &Value| canonicalize_as(schema, canonical, file);
    if let Some(clean) = again(&mended).ok().filter(|it| *it == mended) {
        return (clean, errata.into_iter().cloned().collect(), Vec::new());
    }
    // Only now that something is wrong, find out which erratum did it.
    let mut schema = canonical.clone();
    let (mut fitting, mut problems) = (Vec::new(), Vec::new());
    for erratum in errata {
        let (mended, ..) = put_all(&schema, [erratum]);
        let problem = match again(&mended) {
            Ok(clean) if clean == mended => {
                schema = clean;
                fitting.push(erratum.clone());
                continue;
            }
            Ok(_) => "what it puts there is not in canonical form: no prose, `required`, `enum` and `type` sorted".into(),
            Err(error) => format!("what it puts there is not a schema: {error}"),
        };
        problems.push((erratum, true, problem));
    }
    (schema, fitting, problems)
}

fn failure(
    file: &RuleFile,
    erratum: &Erratum,
    id: &str,
    status: RevisionStage,
    problem: String,
) -> SpecDiagnostic {
    let source = status.placed(&erratum.source, id);
    let cure = match ends_before(&erratum.revisions, id) {
        Some(until) => format!("end the erratum with {until}"),
        None => "take the erratum out".to_owned(),
    };
    let mut of = SpecDiagnostic::of(
        file.path.as_str(),
        FileLocation::Line(erratum.line),
        problem,
    );
    of.rule = format!("erratum `{}` of `{id}`", erratum.id).into();
    let help = format!("look at {source} again: if the schema is right now, {cure}");
    of.note("reason", erratum.reason.as_str()).help(help)
}

fn put(schema: &mut Value, pointer: &str, erratum: &Erratum) -> Result<(), String> {
    let expected = erratum.expect.as_ref();
    let mismatch = |found: Option<&Value>| {
        let [expected, found] =
            [expected, found].map(|value| value.map_or_else(|| "nothing".to_owned(), shown));
        Err(format!(
            "another value stands at `{pointer}`\n  expected: {expected}\n  found:    {found}"
        ))
    };
    let (parent, last) = pointer.rsplit_once('/').ok_or_else(|| {
        format!(
            "`{pointer}` is not a JSON pointer to a place below the top: it has to start with `/`"
        )
    })?;
    let name = pointer::unescaped(last).into_owned();
    match schema.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            if members.get(&name) != expected {
                return mismatch(members.get(&name));
            }
            match &erratum.replace {
                Some(value) => members.insert(name, value.clone()),
                None => members.remove(&name),
            };
            Ok(())
        }
        Some(Value::Array(list)) => {
            let index = name.parse::<usize>().ok();
            let slot = index.and_then(|index| list.get_mut(index));
            match (slot, &erratum.replace) {
                (Some(slot), Some(value)) if Some(&*slot) == expected => {
                    *slot = value.clone();
                    Ok(())
                }
                (Some(_), None) => Err(format!(
                    "`{pointer}` is an item of a list; replace the list as a whole"
                )),
                (slot, _) => mismatch(slot.as_deref()),
            }
        }
        Some(_) | None => Err(format!(
            "`{pointer}` leads nowhere: the object that would hold it is not there"
        )),
    }
}
