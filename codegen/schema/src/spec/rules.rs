//! Rule files: TOML whose every value can be traced to its line.

use crate::sorted::SortedMap;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;

use super::json::{BYTE_ORDER_MARK, MARKED};
use super::range::Order;
use crate::{Error, FileLocation, SpecDiagnostic};

/// The text of one rule file and the name under which failures speak of it.
///
/// Rows that need their place hold [`toml::Spanned`] values; [`RuleFile::line_of`] turns a span's start into a line.
#[derive(Clone, Debug, Default)]
pub struct RuleFile {
    /// The path as failures print it.
    pub path: String,
    /// The whole text; empty for a file that is not there.
    pub text: String,
    /// The beginnings of its lines after the first, found when one is asked for.
    starts: OnceLock<Vec<usize>>,
}

impl RuleFile {
    /// Creates a rule file from its path and text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            starts: OnceLock::new(),
        }
    }

    /// Reads the file as `T`. Returns an error for a value that does not fit, with its line.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            return Err(not_toml(&self.path, 1, MARKED));
        }
        toml::from_str(&self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line_of(span.start));
            not_toml(&self.path, line, error.message())
        })
    }

    /// Returns the line, from 1, of the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> usize {
        let starts = self.starts.get_or_init(|| {
            let ends = self.text.match_indices('\n');
            ends.map(|(at, _)| at + 1).collect()
        });
        1 + starts.partition_point(|start| *start <= offset)
    }

    /// Returns the error of a rule at a byte offset of this file; `rule` names it, as in ``erratum `id` ``.
    pub fn error(
        &self,
        offset: usize,
        rule: impl Into<Box<str>>,
        problem: impl Into<Box<str>>,
        reason: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> Error {
        let place = FileLocation::Line(self.line_of(offset));
        let mut of = SpecDiagnostic::of(self.path.as_str(), place, problem);
        of.rule = rule.into();
        of.note("reason", reason).help(help).into()
    }

    /// Returns the same of a rule that does not hold of one of the revisions of its range.
    pub(crate) fn error_of(
        &self,
        revision: &str,
        offset: usize,
        rule: impl Into<Box<str>>,
        problem: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) -> Error {
        let mut error = self.error(offset, rule, problem, "", help);
        if let Error::Wrong(of) = &mut error {
            of.revision = Some(revision.into());
        }
        error
    }
}

/// Returns the error of a file that is not TOML, or not the TOML that is expected.
pub fn not_toml(file: &str, line: usize, message: &str) -> Error {
    Error::text(
        file,
        FileLocation::Line(line),
        message.trim_end().replace('\n', "; "),
    )
}

/// The rule files of a spec, by their path below the spec directory (`names.toml`, `shims/a..b.toml`), which failures print
/// as the root.
#[derive(Clone, Debug, Default)]
pub struct RuleTexts {
    pub(crate) root: String,
    /// The revisions that ranges are of.
    pub order: Order,
    /// The states of each extension that ranges in its folder are of.
    pub(crate) states: SortedMap<String, Order>,
    pub(super) files: SortedMap<String, RuleFile>,
}

impl RuleTexts {
    /// Returns the file of that name; a missing one is empty, that is, has no rules.
    pub fn get(&self, name: &str) -> RuleFile {
        let file = self.files.get(name).cloned();
        file.unwrap_or_else(|| RuleFile::new(format!("{}/{name}", self.root), ""))
    }

    /// Returns all files that are there, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RuleFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }
}
