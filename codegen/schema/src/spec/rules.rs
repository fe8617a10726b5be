//! Rule files: TOML whose every value can be traced to its line.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;

use super::json::{BYTE_ORDER_MARK, MARKED};
use super::range::Order;
use crate::Error;

/// The text of one rule file and the name under which failures speak of it.
///
/// Rows that need their place hold [`toml::Spanned`] values; [`RuleFile::line_of`] turns a span's start into a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// The path as failures print it.
    pub path: String,
    /// The whole text; empty for a file that is not there.
    pub text: String,
    /// Where its lines begin, found when the first is asked for.
    starts: Starts,
}

/// Where the lines after the first begin; says nothing that the text does not.
#[derive(Clone, Debug, Default)]
struct Starts(OnceLock<Vec<usize>>);

impl PartialEq for Starts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Starts {}

impl RuleFile {
    /// A rule file from its path and text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            starts: Starts::default(),
        }
    }

    /// Read as `T`.
    ///
    /// # Errors
    /// [`Error::Toml`] with the line of what does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            return Err(Error::Toml {
                file: self.path.as_str().into(),
                line: 1,
                message: MARKED.into(),
            });
        }
        toml::from_str(&self.text).map_err(|error| Error::Toml {
            file: self.path.as_str().into(),
            line: error.span().map_or(1, |span| self.line_of(span.start)),
            message: error.message().trim_end().replace('\n', "; ").into(),
        })
    }

    /// The line, from 1, in which the byte at `offset` stands.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        let starts = self.starts.0.get_or_init(|| {
            let ends = self.text.match_indices('\n');
            ends.map(|(at, _)| at + 1).collect()
        });
        1 + starts.partition_point(|start| *start <= offset)
    }

    /// An [`Error::Rule`] at a byte offset of this file; `rule` says which, as in ``erratum `id` ``.
    pub fn error(
        &self,
        offset: usize,
        rule: impl Into<Box<str>>,
        problem: impl Into<Box<str>>,
        reason: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> Error {
        Error::Rule {
            file: self.path.as_str().into(),
            line: self.line_of(offset),
            rule: rule.into(),
            revision: None,
            problem: problem.into(),
            reason: reason.into(),
            help: help.into(),
        }
    }

    /// The same of a rule that does not hold of one of the revisions of its range.
    pub(crate) fn error_of(
        &self,
        revision: &str,
        offset: usize,
        rule: impl Into<Box<str>>,
        problem: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> Error {
        let mut error = self.error(offset, rule, problem, "", help);
        if let Error::Rule { revision: of, .. } = &mut error {
            *of = Some(revision.into());
        }
        error
    }
}

/// The rule files of a spec, by their path below the spec directory (`names.toml`, `shims/a..b.toml`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTexts {
    root: String,
    /// The revisions that ranges are of.
    pub(crate) order: Order,
    files: BTreeMap<String, RuleFile>,
}

impl RuleTexts {
    /// No files, below a directory that failures will print as `root`.
    pub(crate) fn new(root: &str, order: Order) -> Self {
        Self {
            root: root.to_owned(),
            order,
            files: BTreeMap::new(),
        }
    }

    pub(crate) fn insert(&mut self, name: &str, text: String) {
        self.files.insert(
            name.to_owned(),
            RuleFile::new(format!("{}/{name}", self.root), text),
        );
    }

    /// The file of that name; one that is not there is an empty one, that is, no rules.
    #[must_use]
    pub fn get(&self, name: &str) -> RuleFile {
        self.files
            .get(name)
            .cloned()
            .unwrap_or_else(|| RuleFile::new(format!("{}/{name}", self.root), ""))
    }

    /// All files that are there, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RuleFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }
}
