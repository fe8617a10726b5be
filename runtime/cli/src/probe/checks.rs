//! The checks of a server, as `spec/probe.toml` has them, and what was found by one.

use anyhow::{Context as _, anyhow};
use clap::ValueEnum;
use mcp_revisions_core::{Revision, Status};
use mcp_revisions_schema::spec::errors::ErrorRules;
use serde::Deserialize;

use crate::embedded;

/// The site of the specification, and the folder of its pages.
const SITE: &str = "https://modelcontextprotocol.io/";

/// The severity of a finding; the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FindingSeverity {
    /// Worth knowing
    Note,
    /// A SHOULD of the specification, or some clients have trouble
    Warning,
    /// A MUST of the specification, or no client gets through
    Error,
}

impl FindingSeverity {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A row of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRow {
    id: String,
    fact: Option<String>,
    since: Option<String>,
    until: Option<String>,
    severity: FindingSeverity,
    says: Option<String>,
    page: Option<String>,
    section: Option<String>,
    mend: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRows {
    check: Vec<CheckRow>,
}

/// A check in one revision, or of none.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) severity: FindingSeverity,
    pub(super) revision: Option<Revision>,
    /// The rule, in a sentence.
    pub(super) says: String,
    /// The URL of its page.
    pub(super) page: Option<String>,
    /// The change that mends it.
    pub(super) mend: String,
}

/// A departure of the server from a rule, which a check found.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) check: Check,
    /// The revisions whose rule it is; empty for a check of the way.
    pub(super) revisions: Vec<Revision>,
    /// The place: a request, a tool, a step.
    pub(super) place: String,
    /// The act of the server.
    pub(super) found: String,
}

/// All checks, each in every revision that it holds in.
pub(super) struct Checks(Vec<Check>);

impl Checks {
    /// Reads those that the program carries. Fails for a row that names a fact which is not there.
    pub(super) fn load() -> anyhow::Result<Self> {
        let spec = embedded::spec()?;
        let facts = ErrorRules::read(&spec)?;
        let rows: CheckRows = spec.rules.get("probe.toml").parse()?;
        let mut all = Vec::new();
        for row in rows.check {
            if row.page.is_none() && row.fact.is_none() {
                let says = row.says.clone().unwrap_or_default();
                all.push(row.check(None, says, None));
                continue;
            }
            let before = all.len();
            for &revision in Revision::NEGOTIATED {
                let of = spec.revision(revision.id())?;
                let fact = (row.fact.as_deref()).map(|fact| stated(&facts.of(of), fact));
                let own = row.says.clone().zip(row.page.clone());
                let (says, page) = match (fact, own) {
                    (Some(None), _) => continue,
                    (Some(Some((says, page))), _) => (says, row.page.clone().unwrap_or(page)),
                    (None, Some(own)) => own,
                    (None, None) => continue,
                };
                if row.holds(revision)? {
                    let own_page = page.replace("{revision}", folder(revision));
                    all.push(row.check(Some(revision), says, Some(own_page)));
                }
            }
            if all.len() == before {
                return Err(anyhow!(
                    "probe.toml: check `{}` holds in no revision",
                    row.id
                ));
            }
        }
        Ok(Self(all))
    }

    /// Returns the check of this id in a revision; `None` if the revision has no such rule.
    pub(super) fn find(&self, id: &str, revision: Option<Revision>) -> Option<&Check> {
        let mut all = self.0.iter();
        all.find(|check| check.id == id && (check.revision.is_none() || check.revision == revision))
    }
}

impl CheckRow {
    fn holds(&self, revision: Revision) -> anyhow::Result<bool> {
        let bound = |id: &Option<String>| -> anyhow::Result<Option<Revision>> {
            let parsed = id.as_ref().map(|id| id.parse::<Revision>());
            parsed.transpose().context("probe.toml")
        };
        let (since, until) = (bound(&self.since)?, bound(&self.until)?);
        Ok(since.is_none_or(|since| since <= revision) && until.is_none_or(|it| revision <= it))
    }

    fn check(&self, revision: Option<Revision>, says: String, page: Option<String>) -> Check {
        let link = page.map(|page| link(&page, self.section.as_deref()));
        Check {
            id: self.id.clone(),
            severity: self.severity,
            revision,
            says,
            page: link,
            mend: self.mend.clone(),
        }
    }
}

/// Returns the statement of a row of `errors.toml`, and its page.
fn stated(facts: &ErrorRules, name: &str) -> Option<(String, String)> {
    let rules = facts.rules.iter().map(|it| (&it.id, &it.meaning, &it.page));
    let headers = facts
        .headers
        .iter()
        .map(|it| (&it.name, &it.meaning, &it.page));
    let errors = facts
        .errors
        .iter()
        .map(|it| (&it.name, &it.meaning, &it.page));
    let mut all = rules.chain(headers).chain(errors);
    let (_, says, page) = all.find(|(own, ..)| *own == name)?;
    Some((says.clone(), page.clone()))
}

/// Returns the folder of a revision's pages.
fn folder(revision: Revision) -> &'static str {
    match revision.status() {
        Status::Released => revision.id(),
        Status::Candidate | Status::Draft => "draft",
    }
}

/// Returns the URL of a page of the specification's repository.
fn link(page: &str, section: Option<&str>) -> String {
    let anchor = section.map_or(String::new(), |section| format!("#{section}"));
    match page.strip_prefix("schema/") {
        Some(rest) => {
            let revision = rest.split('/').next().unwrap_or_default();
            format!("{SITE}specification/{revision}/schema")
        }
        None => {
            let path = page.trim_start_matches("docs/").trim_end_matches(".mdx");
            format!("{SITE}{path}{anchor}")
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_check_of_the_file_is_made_and_each_that_is_made_is_in_the_file() {
        let all = Checks::load().unwrap().0;
        let written: BTreeSet<&str> = all.iter().map(|check| check.id.as_str()).collect();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/probe");
        let mut made = BTreeSet::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            // The id stands first, maybe on a line of its own.
            let rest = text.split(concat!(".rep", "ort")).skip(1);
            let given = rest.map(|rest| rest.trim_start_matches("_status"));
            let ids =
                given.filter_map(|rest| rest.strip_prefix('(')?.trim_start().strip_prefix('"'));
            made.extend(ids.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
        let made: BTreeSet<&str> = made.iter().map(String::as_str).collect();
        assert_eq!(written, made);
        for check in &all {
            assert!(
                !check.says.is_empty() && !check.mend.is_empty(),
                "{check:?}"
            );
            assert!(
                check.page.is_some() == check.revision.is_some(),
                "{check:?}"
            );
        }
    }
}
