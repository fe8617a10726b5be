//! Changes of the specification's prose between adjacent revisions that no schema shows: `spec/changes.toml`.
//!
//! Each change is answered: by rules of the pair, by an adapter of the runtime, or by a reason why nothing has to be
//! done about it. One without an answer stops the planning of its pair.

use crate::sorted::SortedSet;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::one_or_many::OneOrMany;
use crate::pair::{MethodSender, RevisionPair};
use crate::spec::rules::RuleFile;
use crate::{Error, Spec};
use mcp_convert::Adapter;

/// All changes of the prose.
#[derive(Debug, Default)]
pub struct ProseChanges {
    file: RuleFile,
    rows: Vec<Spanned<ProseChange>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProseTables {
    change: Vec<Spanned<ProseChange>>,
}

/// A change of the prose.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProseChange {
    /// The name under which people speak of it.
    pub id: String,
    /// The two adjacent revisions: `OLD..NEW`.
    pub between: String,
    /// The peer that it binds; `None` if it binds both.
    pub binds: Option<MethodSender>,
    /// The transport that it is about; `None` if it is about any.
    pub over: Option<RefusingTransport>,
    /// The rule that only one of the two revisions has, in our own words.
    pub says: String,
    /// The page that says so.
    pub page: String,
    /// The answer of this project.
    pub answer: Option<ProseAnswer>,
}

/// A transport: what is particular to it, no JSON text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusingTransport {
    /// Streamable HTTP: a request may be refused for its headers.
    Http,
    /// Lines over the standard input and output of a child process.
    Stdio,
}

impl RefusingTransport {
    /// Returns its name: `HTTP` or `stdio`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Stdio => "stdio",
        }
    }
}

/// The answer of this project to a change of the prose.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProseAnswer {
    /// Rules of the pair.
    Rule(OneOrMany<String>),
    /// An adapter of the runtime.
    Adapter(Adapter),
    /// Nothing has to be done to any value, for this reason.
    Waiver(String),
}

impl ProseChanges {
    /// Reads those of a spec. Returns an error for a text that is not TOML, or no change, with its line.
    pub fn of(spec: &Spec) -> Result<Self, Error> {
        Self::read(spec.rules.get("changes.toml"))
    }

    /// Reads the changes; an absent file has none. Returns an error for a text that is not TOML, or no change, with its line.
    pub fn read(file: RuleFile) -> Result<Self, Error> {
        let ProseTables { change: rows } = file.parse()?;
        Ok(Self { file, rows })
    }

    /// Returns all of them, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = &ProseChange> {
        self.rows.iter().map(Spanned::get_ref)
    }

    /// Returns their faults by themselves: two of one name, no words, a pair that does not exist.
    pub fn faults(&self, pairs: &[RevisionPair]) -> Vec<Error> {
        let mut seen = SortedSet::new();
        let mut errors = Vec::new();
        for row in &self.rows {
            let change = row.get_ref();
            let mut fault = |problem: &str, help: &str| errors.push(self.error(row, problem, help));
            if !seen.insert((&change.between, &change.id)) {
                fault("another change of this pair has the id", "name them apart");
            }
            if !pairs.iter().any(|pair| pair.to_string() == change.between) {
                let known: Vec<String> = pairs.iter().map(ToString::to_string).collect();
                let problem = format!("no adjacent revisions `{}` are converted", change.between);
                fault(&problem, &format!("known: {}", known.join(", ")));
            }
            for (what, text) in [("says", &change.says), ("page", &change.page)] {
                if text.is_empty() {
                    fault(&format!("`{what}` is empty"), "");
                }
            }
            if matches!(&change.answer, Some(ProseAnswer::Waiver(reason)) if reason.is_empty()) {
                fault("its waiver gives no reason", "");
            }
        }
        errors
    }

    /// Returns the rules of a pair that its changes ask for; every change without an answer, or a rule that is not there, is
    /// an error.
    pub fn required_rules(
        &self,
        pair: &RevisionPair,
        rules: &SortedSet<&str>,
    ) -> (SortedSet<String>, Vec<Error>) {
        let mut errors = Vec::new();
        let mut asked = SortedSet::new();
        let between = pair.to_string();
        for row in &self.rows {
            let change = row.get_ref();
            if change.between != between {
                continue;
            }
            match &change.answer {
                Some(ProseAnswer::Rule(ids)) => {
                    for id in ids.all() {
                        if !rules.contains(id.as_str()) {
                            let problem = format!("`{}` has no rule `{id}`", pair.file());
                            errors.push(self.error(row, &problem, "write it, or name another"));
                        }
                        asked.insert(id.clone());
                    }
                }
                Some(ProseAnswer::Adapter(_) | ProseAnswer::Waiver(_)) => {}
                None => errors.push(self.error(
                    row,
                    "nothing answers it",
                    "add answer = { rule = \"ID\" }, { adapter = \"NAME\" } or { waiver = \"REASON\" }",
                )),
            }
        }
        (asked, errors)
    }

    fn error(&self, row: &Spanned<ProseChange>, problem: &str, help: &str) -> Error {
        let ProseChange { id, says, .. } = row.get_ref();
        let (offset, of) = (row.span().start, format!("change `{id}`"));
        (self.file).error(offset, of, problem, says.as_str(), help)
    }
}
