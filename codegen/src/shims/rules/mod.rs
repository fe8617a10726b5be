//! The decisions of one pair of revisions, from `spec/shims/<old>..<new>.toml`.

mod rows;
mod sound;

pub use rows::{
    Action, Adapter, ErrorFate, ErrorRule, Loss, MethodAction, MethodRule, Only, Reject, Rule,
    Sender, SessionFact,
};

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::Spanned;

use super::pair::{Pair, Way};
use crate::Error;
use crate::spec::Spec;
use crate::spec::rules::RuleFile;
use rows::{Rename, Rows, placed};

/// The rules of a pair.
#[derive(Debug, Default)]
pub struct PairRules {
    file: RuleFile,
    rows: Rows,
    /// Byte offset and direction of rules that were of use.
    used: RefCell<BTreeSet<(usize, Way)>>,
    /// Byte offset of hooks, and the members that they were found to make fit.
    fitted: RefCell<BTreeSet<(usize, String)>>,
}

impl PairRules {
    /// The rules of a pair of a spec.
    ///
    /// # Errors
    /// As [`PairRules::read`].
    pub fn of(pair: &Pair, spec: &Spec) -> Result<Self, Error> {
        Self::read(spec.rules.get(&pair.file()))
    }

    /// Reads the rules of a pair; an absent file has none.
    ///
    /// # Errors
    /// [`Error::Toml`] with its line, and rules that contradict themselves.
    pub fn read(file: RuleFile) -> Result<Self, Error> {
        let rows: Rows = file.parse()?;
        let rules = Self {
            file,
            rows,
            used: RefCell::default(),
            fitted: RefCell::default(),
        };
        Error::check(sound::faults(&rules.file, &rules.rows))?;
        Ok(rules)
    }

    pub(super) fn error(&self, offset: usize, id: &str, problem: &str, reason: &str) -> Error {
        rows::error(&self.file, offset, id, problem, reason)
    }

    /// The path of the file, for errors that say where a rule belongs.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.file.path
    }

    /// Types that are converted although no method of both revisions reaches them.
    pub(super) fn also(&self) -> impl Iterator<Item = (usize, &str)> {
        placed(&self.rows.also).map(|(offset, row)| (offset, row.r#type.as_str()))
    }

    /// An error about a row of `also`.
    pub(super) fn also_error(&self, offset: usize, problem: &str) -> Error {
        let row = placed(&self.rows.also).find(|(at, _)| *at == offset);
        let (name, reason) = row.map_or(("", ""), |(_, row)| (&row.r#type, &row.reason));
        self.error(offset, name, problem, reason)
    }

    /// Whether a hook of a type says that it makes a member fit into tighter limits.
    pub(super) fn fits(&self, owner: &str, member: &str, way: Way) -> bool {
        let mut found = false;
        for (offset, rule) in placed(&self.rows.rule) {
            let hook = rule.action(way).is_some_and(Action::is_hook);
            if hook
                && matches(&rule.at, owner)
                && rule.covers.iter().any(|covered| covered == member)
            {
                self.fitted.borrow_mut().insert((offset, member.to_owned()));
                found = true;
            }
        }
        found
    }

    /// The row about an error code, if the code differs between the two revisions.
    pub(super) fn error_row(&self, code: i64) -> Option<&ErrorRule> {
        let (offset, row) = placed(&self.rows.error).find(|(_, row)| row.code == code)?;
        self.uses_row(offset);
        Some(row)
    }

    /// Whether two types of different names are one, by a rule.
    pub(super) fn renamed(&self, from: &str, to: &str, way: Way) -> bool {
        let (wanted_old, wanted_new) = way.of((from, to), (to, from));
        let row = placed(&self.rows.rename).find(|(_, row)| {
            let Rename { old, new, .. } = row;
            wanted_old == old && wanted_new == new
        });
        if let Some((offset, _)) = row {
            self.uses_row(offset);
        }
        row.is_some()
    }

    /// The decision about a place where there may be no need of one: it counts as used once [`Self::uses`] says so.
    pub(super) fn offer(&self, place: &str, way: Way) -> Option<(usize, &Rule, &Action)> {
        placed(&self.rows.rule).find_map(|(offset, rule)| {
            let action = rule.action(way)?;
            matches(&rule.at, place).then_some((offset, rule, action))
        })
    }

    /// An offered decision was needed.
    pub(super) fn uses(&self, offset: usize, way: Way) {
        self.used.borrow_mut().insert((offset, way));
    }

    /// A row that speaks of both ways at once was needed.
    fn uses_row(&self, offset: usize) {
        self.uses(offset, Way::Up);
    }

    /// All decisions about a place: a type may have something done before and after.
    pub(super) fn decisions(
        &self,
        place: String,
        way: Way,
    ) -> impl Iterator<Item = (&Rule, &Action)> {
        placed(&self.rows.rule).filter_map(move |(offset, rule)| {
            let action = rule.action(way)?;
            if !matches(&rule.at, &place) {
                return None;
            }
            self.uses(offset, way);
            Some((rule, action))
        })
    }

    /// The decision about a method that the other revision lacks.
    pub(super) fn method(&self, name: &str, sender: Sender) -> Option<(usize, &MethodRule)> {
        let (offset, row) = placed(&self.rows.method).find(|(_, rule)| {
            rule.name == name && rule.direction.is_none_or(|direction| direction == sender)
        })?;
        self.uses_row(offset);
        Some((offset, row))
    }

    /// All rules, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rows.rule.iter().map(Spanned::get_ref)
    }

    /// All rules about error codes.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorRule> {
        self.rows.error.iter().map(Spanned::get_ref)
    }

    /// All rules about methods.
    pub fn methods(&self) -> impl Iterator<Item = &MethodRule> {
        self.rows.method.iter().map(Spanned::get_ref)
    }

    /// Rules that nothing needed, or only in one of the directions that they speak of.
    #[must_use]
    pub fn unused(&self) -> Vec<Error> {
        let used = self.used.borrow();
        let idle = |offset: usize| !used.contains(&(offset, Way::Up));
        let mut errors = sound::idle(&self.file, &self.rows);
        let help = "it matches nothing that changed";
        for (offset, row) in placed(&self.rows.rename) {
            if idle(offset) {
                errors.push(self.error(offset, &row.id(), help, &row.reason));
            }
        }
        for (offset, rule) in placed(&self.rows.rule) {
            for way in Way::BOTH {
                if rule.action(way).is_some() && !used.contains(&(offset, way)) {
                    let problem = format!("{help} on the way {way}");
                    errors.push(self.error(offset, &rule.id, &problem, &rule.reason));
                }
            }
            for member in &rule.covers {
                if !self.fitted.borrow().contains(&(offset, member.clone())) {
                    let problem = format!(
                        "it covers `{member}`, whose limits are no tighter in the other revision"
                    );
                    errors.push(self.error(offset, &rule.id, &problem, &rule.reason));
                }
            }
        }
        for (offset, rule) in placed(&self.rows.error) {
            if idle(offset) {
                let problem = "both revisions have the code, or neither (spec/errors.toml)";
                errors.push(self.error(offset, &rule.id, problem, &rule.reason));
            }
        }
        for (offset, rule) in placed(&self.rows.method) {
            if idle(offset) {
                errors.push(self.error(offset, &rule.id, help, &rule.reason));
            }
        }
        errors
    }
}

/// A place, or `*` and the rest of one.
fn matches(pattern: &str, place: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(rest) => place.ends_with(rest) && place.len() > rest.len(),
        None => pattern == place,
    }
}
