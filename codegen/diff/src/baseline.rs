//! Changes that are known already: named one by one, or by a diff that was kept.

use mcp_revisions_schema::sorted::SortedMap;

use serde::Serialize;
use serde_json::Value;

use super::{Diff, DiffRow};
use mcp_revisions_schema::Error;

/// The form of a baseline file.
const FORM: &str = "a baseline is a diff as `--format json` prints it, or one fingerprint per line";

/// A row that was set aside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IgnoredChange {
    /// The row.
    pub row: DiffRow,
    /// Why.
    pub reason: String,
}

/// Fingerprints of changes that are known, each with why it is set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    known: SortedMap<String, String>,
    /// Those that were named one by one: each has to be met.
    named: Vec<String>,
}

impl Baseline {
    /// Adds a fingerprint that was named by itself. Fails for a text that is not a fingerprint.
    pub fn ignore(&mut self, fingerprint: &str) -> Result<(), Error> {
        if !is_fingerprint(fingerprint) {
            return Err(Error::usage(
                format!("`{fingerprint}` is not a fingerprint"),
                "give the 12 hex digits that the diff prints with the change",
            ));
        }
        self.known
            .insert(fingerprint.to_owned(), "asked to be ignored".to_owned());
        self.named.push(fingerprint.to_owned());
        Ok(())
    }

    /// Adds what a file knows: a diff as JSON, or a fingerprint a line, with `#` before remarks. Fails for a file that is
    /// neither, with the line.
    pub fn read(&mut self, file: &str, text: &str) -> Result<(), Error> {
        let found = if text.trim_start().starts_with('{') {
            of_json(file, text)?
        } else {
            of_lines(file, text)?
        };
        for fingerprint in found {
            let known = self.known.entry(fingerprint);
            known.or_insert_with(|| format!("known in {file}"));
        }
        Ok(())
    }

    /// Sets aside what is known, in all diffs of a history. Fails for a change that was named by itself and is in none of them.
    pub fn apply(&self, diffs: &mut [Diff]) -> Result<(), Error> {
        let missing = self.named.iter().find(|id| {
            let mut all = diffs.iter().flat_map(|diff| &diff.rows);
            !all.any(|row| row.fingerprint == **id)
        });
        if let Some(missing) = missing {
            return Err(Error::usage(
                format!("no change has the fingerprint {missing}"),
                "leave it out of --ignore; `--fingerprints` prints those of today's changes",
            ));
        }
        for diff in diffs {
            diff.set_aside(|row| self.known.get(&row.fingerprint).cloned());
        }
        Ok(())
    }
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn of_lines(file: &str, text: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let said = line.split('#').next().unwrap_or_default().trim();
        match said {
            "" => {}
            said if is_fingerprint(said) => found.push(said.to_owned()),
            said => {
                let problem = format!("{file}:{}: `{said}` is not a fingerprint", number + 1);
                return Err(Error::usage(problem, FORM));
            }
        }
    }
    Ok(found)
}

/// Returns the rows of a diff or of a history, those included that it sets aside itself.
fn of_json(file: &str, text: &str) -> Result<Vec<String>, Error> {
    let document = mcp_revisions_schema::spec::json::parse(file, text)?;
    let own = std::slice::from_ref(&document);
    let diffs = match document.get("diffs") {
        Some(Value::Array(diffs)) => diffs,
        _ => own,
    };
    let mut found = Vec::new();
    for diff in diffs {
        let Some(Value::Array(rows)) = diff.get("rows") else {
            let problem = format!("{file} is not a diff: it has no `rows`");
            return Err(Error::usage(problem, FORM));
        };
        let aside = diff
            .get("ignored")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let all = rows.iter().chain(aside.filter_map(|it| it.get("row")));
        let ids = all.filter_map(|row| row.get("fingerprint")?.as_str());
        found.extend(ids.map(str::to_owned));
    }
    Ok(found)
}
