//! `<revision>/carried.toml`: what an import took over from another revision, until somebody has confirmed it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::facts::Fact;
use super::rules::RuleFile;
use crate::Error;

/// What stands in spec/ for a revision and was not said of it, but of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// The revision that it was taken from.
    pub from: String,
    /// The facts that nobody has confirmed yet.
    pub facts: Vec<Fact>,
    /// The digest of the upstream file that the import replaced.
    pub(super) replaced: Option<String>,
    /// Rule files that the import put aside, by name: an undone import puts them back.
    pub(super) displaced: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    from: String,
    #[serde(default)]
    facts: Vec<String>,
    replaced: Option<String>,
    #[serde(default)]
    displaced: BTreeMap<String, String>,
}

/// The name of the file of a revision, below the spec directory.
pub(super) fn file_name(id: &str) -> String {
    format!("{id}/carried.toml")
}

impl Carried {
    pub(super) fn read(file: &RuleFile) -> Result<Option<Self>, Error> {
        if file.text.is_empty() {
            return Ok(None);
        }
        let Text {
            from,
            facts,
            replaced,
            displaced,
        } = file.parse()?;
        Ok(Some(Self {
            from,
            facts: facts.into_iter().map(Fact).collect(),
            replaced,
            displaced,
        }))
    }

    /// The text of the file; none where there is nothing to record.
    pub(super) fn text(&self, id: &str) -> Option<String> {
        let Self {
            from,
            facts,
            replaced,
            displaced,
        } = self;
        if facts.is_empty() && replaced.is_none() && displaced.is_empty() {
            return None;
        }
        let mut text = format!(
            "\
# Said of {from}, taken over for {id} by its import, and not yet held against the pages of {id}.
# `cargo xtask spec confirm {id} FACT...` takes a fact off this list; with `--drop` it is taken back as well.
"
        );
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let _ = writeln!(text, "from = {}", quoted(from));
        if let Some(digest) = replaced {
            let _ = writeln!(
                text,
                "# The upstream file that stood here before.\nreplaced = {}",
                quoted(digest)
            );
        }
        text.push_str("facts = [\n");
        for fact in facts {
            let _ = writeln!(text, "  {},", quoted(fact.as_str()));
        }
        text.push_str("]\n");
        if !displaced.is_empty() {
            text.push_str("\n# What an undone import puts back.\n[displaced]\n");
            for (name, content) in displaced {
                let _ = writeln!(text, "{} = {}", quoted(name), quoted(content));
            }
        }
        Some(text)
    }
}
