//! A schema of ours, for an extension of which upstream publishes a page only: each part rests on a statement of that page.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::super::canonical::definitions;
use super::super::rules::RuleFile;
use super::super::{Revision, canonical::definition};
use super::rows::{ExtensionRows, StateRow, holds_and_begins};
use crate::Error;

/// The form of the place that a schema was written from.
const FORM: &str =
    "a repository and the commit whose `source` was read: OWNER/NAME@ and 40 hexadecimal digits";

/// A statement of the page, in words of ours, and what rests on it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementRow {
    definition: Spanned<String>,
    /// The members that it is about; without them, it is about the definition.
    #[serde(default)]
    members: Vec<Spanned<String>>,
    /// The heading of the page below which it stands.
    section: String,
    says: String,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
}

impl StatementRow {
    /// Returns the name by which errors call the row.
    pub(super) fn name(&self) -> &Spanned<String> {
        &self.definition
    }
}

/// Returns whether a text names a repository and a commit.
fn is_commit(text: &str) -> bool {
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = |hash: &str| hash.len() == 40 && hash.bytes().all(hex);
    let (repository, hash) = text.split_once('@').unwrap_or_default();
    super::is_identifier(repository) && is_hash(hash)
}

/// Returns the faults of the statements of a state: a schema of ours has one for each definition of its own, and another
/// schema has none. A definition that it repeats, under its name or another one, rests on the core.
pub(super) fn faults(
    facts: &RuleFile,
    rows: &ExtensionRows,
    state: &StateRow,
    schema: &Value,
    base: &Revision,
) -> Vec<Error> {
    let order = rows.order();
    let id = state.id.get_ref();
    let holds = |row: &&StatementRow| holds_and_begins(&order, &row.since, &row.until, id).0;
    let held: Vec<&StatementRow> = rows.statement.iter().filter(holds).collect();
    let mut errors = Vec::new();
    let mut fault = |at: &Spanned<String>, rule: String, problem: String, help: &str| {
        errors.push(facts.error(at.span().start, rule, problem, "", help));
    };
    let Some(page) = &state.written_from else {
        for row in held {
            let problem = format!("the schema of the state {id} is upstream's");
            let help =
                "remove the row; or say by `written-from` which page the schema was written from";
            fault(&row.definition, "statement".to_owned(), problem, help);
        }
        return errors;
    };
    if !is_commit(page.get_ref()) {
        let problem = format!("`{}` names no commit", page.get_ref());
        fault(page, "written-from".to_owned(), problem, FORM);
    }
    for row in &held {
        let name = row.definition.get_ref();
        let rule = || format!("statement of `{name}`");
        if row.says.is_empty() || row.section.is_empty() {
            let help = "the heading of the page, and what stands there, in your words";
            let problem = "`section` or `says` is empty".to_owned();
            fault(&row.definition, rule(), problem, help);
        }
        let Some(defined) = definition(schema, name) else {
            let problem = format!("the schema has no definition `{name}`");
            let help = "a definition that the schema has of its own; or remove the row";
            fault(&row.definition, rule(), problem, help);
            continue;
        };
        for member in &row.members {
            if defined
                .pointer(&format!("/properties/{}", member.get_ref()))
                .is_none()
            {
                let problem = format!("`{name}` has no member `{}`", member.get_ref());
                let help = "the names of members of the definition";
                fault(member, rule(), problem, help);
            }
        }
    }
    let is_repeated = |name: &str, definition: &Value| {
        base.definition(name).is_some()
            || definitions(&base.raw).any(|(_, core)| core == definition)
    };
    let own = definitions(schema).filter(|(name, definition)| !is_repeated(name, definition));
    for (name, _) in own {
        let is_about = |row: &&StatementRow| row.definition.get_ref() == name;
        if !held
            .iter()
            .any(|row| is_about(row) && row.members.is_empty())
        {
            let problem = format!("no `[[statement]]` says what `{name}` rests on");
            let help = "add a row with definition, section and says";
            fault(&state.id, format!("state `{id}`"), problem, help);
        }
    }
    errors
}
