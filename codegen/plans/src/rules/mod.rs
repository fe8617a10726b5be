//! The decisions of one pair of revisions, from `spec/shims/<old>..<new>.toml`.

mod example;
mod exemplified;
mod rows;
mod sound;

pub use example::{Example, ExampleEnding, Sample, SampleSubject, SessionFacts};
pub use rows::{
    Action, Alternative, CodeRange, ErrorRule, ErrorRuleFate, MapEntry, MethodAction, MethodRule,
    Only, PairRule, Reject, RuleSeverity, SessionFact, Trivial,
};

use mcp_revisions_schema::sorted::SortedSet;
use std::cell::RefCell;

use toml::Spanned;

use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Member, ObjectShape};
use mcp_revisions_schema::pair::{MethodSender, RevisionPair, StepDirection};
use mcp_revisions_schema::rules::{MistakeTreatment, ModelMistake, matches};
use mcp_revisions_schema::spec::Spec;
use mcp_revisions_schema::spec::changes::ProseChanges;
use mcp_revisions_schema::spec::rules::RuleFile;
pub(super) use rows::{Also, placed};
use rows::{Rename, RuleTables};

/// A rule as conversions are handed it.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFacts {
    /// Its id, of which a pair has one each.
    pub id: String,
    /// The severity of its losses.
    pub severity: Option<RuleSeverity>,
    /// The severity of a loss without the part that counts.
    pub lesser: Option<RuleSeverity>,
    /// The values that are of that lesser severity.
    pub trivial: Option<Trivial>,
    /// Why it is as it is.
    pub reason: String,
}

/// The rules of a pair.
#[derive(Debug, Default)]
pub struct PairRules {
    file: RuleFile,
    pub(super) rows: RuleTables,
    /// Byte offset, place in its list and direction of rules that were of use.
    used: RefCell<SortedSet<(usize, usize, StepDirection)>>,
    /// Byte offset of hooks, and the members that they were found to make fit.
    fitted: RefCell<SortedSet<(usize, String)>>,
    /// The members that are never left out.
    kept: Vec<ModelMistake>,
    /// The rules that changes of the prose ask for.
    asked: SortedSet<String>,
    /// The pair that they are for, where it was said.
    pair: Option<RevisionPair>,
    /// The rows about error codes between the revisions that both ends of a pair of an extension rest on.
    rested: Vec<ErrorRule>,
}

impl PairRules {
    /// Reads the rules of a pair of a spec. Fails as [`PairRules::read`].
    pub fn of(pair: &RevisionPair, spec: &Spec) -> Result<Self, Error> {
        Self::read(spec.rules.get(&pair.file()))
    }

    /// Reads the rules of a pair; an absent file has none. Returns an error for a text that is not TOML, with its line, and for
    /// rules that contradict themselves.
    pub fn read(file: RuleFile) -> Result<Self, Error> {
        let rules = Self::unfinished(file)?;
        Error::check(sound::faults(&rules.file, &rules.rows, true))?;
        Ok(rules)
    }

    /// Returns the faults of the rules by themselves, apart from their examples: nothing has to be tried before there is a
    /// conversion.
    pub(crate) fn faults(&self) -> Vec<Error> {
        sound::faults(&self.file, &self.rows, false)
    }

    /// Returns the same of rules that need not say all that rules have to say.
    pub(crate) fn unfinished(file: RuleFile) -> Result<Self, Error> {
        let rows: RuleTables = file.parse()?;
        Ok(Self {
            file,
            rows,
            ..Self::default()
        })
    }

    /// Adds what changes of the prose ask for, and returns every one without an answer.
    pub fn answering(mut self, changes: &ProseChanges, pair: &RevisionPair) -> (Self, Vec<Error>) {
        let ids = self.rows.exemplified().map(|row| row.id).collect();
        let (asked, unanswered) = changes.required_rules(pair, &ids);
        self.asked = asked;
        self.pair = Some(pair.clone());
        (self, unanswered)
    }

    /// Sets the members that are never left out.
    pub fn keeping(mut self, mistakes: &[ModelMistake]) -> Self {
        let kept = mistakes
            .iter()
            .filter(|row| row.fate == MistakeTreatment::Kept);
        self.kept = kept.cloned().collect();
        self
    }

    /// Returns whether a member of a type is never left out: what cannot be said without it is refused.
    pub(super) fn is_kept(&self, owner: &str, member: &str) -> bool {
        self.kept
            .iter()
            .any(|row| row.member == member && (row.of.is_empty() || row.of.contains(owner)))
    }

    /// Returns whether a message is refused rather than sent without a member of a type. One whose loss is a matter of safety is
    /// reported instead: most of its values give no reason for a refusal.
    pub(super) fn is_refused_without(&self, owner: &str, member: &str) -> bool {
        let is_told = |row: &ModelMistake| {
            row.severity.is_some() && row.member == member && row.of.contains(owner)
        };
        self.is_kept(owner, member) && !self.kept.iter().any(is_told)
    }

    /// Adds the rows about error codes of the pair of revisions that both ends rest on: a code means the same in an extension.
    /// Returns an error for each row of its own that has the id of one of those.
    pub(crate) fn resting_on(mut self, pair: &RevisionPair, core: &Self) -> Result<Self, Error> {
        let taken = placed(&self.rows.error).filter_map(|(offset, row)| {
            core.errors().find(|other| other.id == row.id)?;
            let problem = format!(
                "{} has a row with that id, which holds here, too",
                pair.file()
            );
            Some(self.error(offset, &row.id, &problem, &row.reason))
        });
        Error::check(taken.collect())?;
        self.rested = core.errors().cloned().collect();
        Ok(self)
    }

    /// Returns the pair that they are for; these are its ends.
    pub(super) fn pair(&self, old: &str, new: &str) -> RevisionPair {
        let own = self.pair.clone();
        own.unwrap_or_else(|| RevisionPair::new(old, new))
    }

    pub(super) fn error(&self, offset: usize, id: &str, problem: &str, reason: &str) -> Error {
        rows::error(&self.file, offset, id, problem, reason)
    }

    /// Returns the hooks of a type that say that they make a member fit into tighter limits.
    pub(super) fn fit(&self, owner: &str, member: &str, way: StepDirection) -> SortedSet<String> {
        let fits = |rule: &PairRule| {
            rule.action(way).is_some_and(Action::is_hook)
                && at(rule, owner).is_some()
                && rule.covers.iter().any(|covered| covered == member)
        };
        let mut ids = SortedSet::new();
        for (offset, rule) in placed(&self.rows.rule).filter(|(_, rule)| fits(rule)) {
            self.fitted.borrow_mut().insert((offset, member.to_owned()));
            ids.insert(rule.id.clone());
        }
        ids
    }

    /// Returns whether a row says on this way what becomes of an error code that only one of the two revisions has, for any
    /// method and data.
    pub(super) fn has_error(&self, code: i64, way: StepDirection) -> bool {
        let rows = placed(&self.rows.error).filter(|(_, row)| row.code.contains(code));
        for (offset, _) in rows {
            self.uses_row(offset, 0);
        }
        self.errors().any(|row| {
            let is_for_all = row.method.is_none() && row.data.is_none();
            row.code.contains(code) && is_for_all && way.of(&row.up, &row.down).is_some()
        })
    }

    /// Returns whether two types of different names are one, by a rule.
    pub(super) fn renamed(&self, from: &str, to: &str, way: StepDirection) -> bool {
        let (wanted_old, wanted_new) = way.of((from, to), (to, from));
        let row = self.names().find(|(.., row, new)| {
            let Rename { old, method, .. } = row;
            !method && wanted_old == old && wanted_new == *new
        });
        if let Some((offset, at, ..)) = row {
            self.uses_row(offset, at);
        }
        row.is_some()
    }

    /// Returns the fault of a row by which a type became several that no member tells apart.
    pub(super) fn not_split(&self, old: &str) -> Option<Error> {
        let mut rows = placed(&self.rows.rename);
        let is_it = |row: &Rename| row.old == old && row.new.all().len() > 1;
        let (offset, row) = rows.find(|(_, row)| is_it(row))?;
        let problem = format!("`{old}` has no member whose value says which of them it becomes");
        let help = "remove the row: the member that held the one type and holds a choice now is then converted by a [[rule]] with `custom`";
        let of = format!("rule `{}`", row.id());
        Some((self.file).error(offset, of, problem, row.reason.as_str(), help))
    }

    /// Returns the rows about names, with the place of each and every newer name that it gives.
    fn names(&self) -> impl Iterator<Item = (usize, usize, &Rename, &str)> {
        placed(&self.rows.rename).flat_map(|(offset, row)| {
            let new = row.new.all().iter().enumerate();
            new.map(move |(at, new)| (offset, at, row, new.as_str()))
        })
    }

    /// Returns the methods that go by another name in the newer revision: the place of the row, the old name and the new one.
    pub(super) fn renamed_methods(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let rows = self.names().filter(|(.., row, _)| row.method);
        rows.map(|(offset, _, row, new)| (offset, row.old.as_str(), new))
    }

    /// Returns the member of `from` that goes by another name in `to`, where it is the `target`.
    pub(super) fn renamed_member<'m>(
        &self,
        (key, from): (&str, &'m ObjectShape),
        (to_key, target): (&str, &Member),
        way: StepDirection,
    ) -> Option<&'m Member> {
        let wanted = format!("{to_key}.{}", target.wire);
        self.names().find_map(|(offset, at, row, new)| {
            let [source, goal] = way.ends([row.old.as_str(), new]);
            let (_, name) = source.split_once('.')?;
            let is_it = matches(goal, &wanted) && matches(source, &format!("{key}.{name}"));
            let member = from.member(name).filter(|_| is_it)?;
            self.uses_row(offset, at);
            Some(member)
        })
    }

    /// Returns the decision about a place where there may be no need of one: it counts as used once [`Self::uses`] says so.
    pub(super) fn offer(&self, place: &str, way: StepDirection) -> Option<Offer<'_>> {
        self.offers(place, way).next()
    }

    /// Returns the action of the decision about a place.
    pub(crate) fn action(&self, place: &str, way: StepDirection) -> Option<&Action> {
        self.offer(place, way).map(|offer| offer.action)
    }

    /// Returns the hand-written function that converts the whole of what stands at a place, if a rule names one.
    pub(super) fn custom(&self, place: &str, way: StepDirection) -> Option<(&PairRule, &str)> {
        self.offers(place, way).find_map(|offer| {
            let Action::Custom(path) = offer.action else {
                return None;
            };
            self.uses(&offer);
            Some((offer.rule, path.as_str()))
        })
    }

    fn offers(&self, place: &str, way: StepDirection) -> impl Iterator<Item = Offer<'_>> {
        placed(&self.rows.rule).filter_map(move |(offset, rule)| {
            let action = rule.action(way)?;
            let at = at(rule, place)?;
            Some(Offer {
                rule,
                action,
                key: (offset, at, way),
            })
        })
    }

    /// An offered decision was needed.
    pub(super) fn uses(&self, offer: &Offer<'_>) {
        self.used.borrow_mut().insert(offer.key);
    }

    /// A row that speaks of both ways at once was needed, for this one of the names in it.
    pub(super) fn uses_row(&self, offset: usize, at: usize) {
        self.used
            .borrow_mut()
            .insert((offset, at, StepDirection::Up));
    }

    /// All decisions about a place: a type may have something done before and after.
    pub(super) fn decisions(&self, place: &str, way: StepDirection) -> Vec<Offer<'_>> {
        let offers: Vec<Offer<'_>> = self.offers(place, way).collect();
        offers.iter().for_each(|offer| self.uses(offer));
        offers
    }

    /// Returns the decision about a method that the other revision lacks, or understands otherwise.
    pub(super) fn method(&self, name: &str, sender: MethodSender) -> Option<(usize, &MethodRule)> {
        placed(&self.rows.method).find_map(|(offset, rule)| {
            let at = rule.name.all().iter().position(|known| known == name)?;
            if rule.sender.is_some_and(|own| own != sender) {
                return None;
            }
            self.uses_row(offset, at);
            Some((offset, rule))
        })
    }

    /// Returns the decision about a method that both have, if there is one.
    pub(super) fn method_apart(
        &self,
        name: &str,
        sender: MethodSender,
    ) -> Option<(usize, &MethodRule)> {
        let known = placed(&self.rows.method).any(|(_, rule)| {
            rule.action.is_none() && rule.name.all().iter().any(|known| known == name)
        });
        known.then(|| self.method(name, sender)).flatten()
    }

    /// Returns the ids of all rows.
    pub(crate) fn ids(&self) -> SortedSet<String> {
        self.rows
            .exemplified()
            .map(|row| row.id.to_owned())
            .collect()
    }

    /// Returns the facts of the rules for conversions, by id.
    pub(super) fn facts(&self) -> Vec<RuleFacts> {
        let mut facts: Vec<RuleFacts> = self
            .rows
            .exemplified()
            .map(|row| RuleFacts {
                id: row.id.to_owned(),
                severity: row.rule.and_then(|rule| rule.severity),
                lesser: row.rule.and_then(|rule| rule.lesser),
                trivial: row.rule.and_then(|rule| rule.trivial.clone()),
                reason: row.reason.to_owned(),
            })
            .collect();
        facts.extend(self.rested.iter().map(|row| RuleFacts {
            id: row.id.clone(),
            severity: None,
            lesser: None,
            trivial: None,
            reason: row.reason.clone(),
        }));
        facts.sort_by(|a, b| a.id.cmp(&b.id));
        facts
    }

    /// Returns all rules, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = &PairRule> {
        self.rows.rule.iter().map(Spanned::get_ref)
    }

    /// Returns all rules about error codes: its own, and those of the revisions that its ends rest on.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorRule> {
        (self.rows.error.iter().map(Spanned::get_ref)).chain(&self.rested)
    }

    /// Returns all rules about methods.
    pub fn methods(&self) -> impl Iterator<Item = &MethodRule> {
        self.rows.method.iter().map(Spanned::get_ref)
    }

    /// Returns the examples of every rule, in the order of the file.
    pub fn samples(&self) -> impl Iterator<Item = Sample<'_>> {
        self.rows.exemplified().flat_map(|row| row.samples())
    }

    /// Rules that nothing needed, or only in one of the directions that they speak of.
    pub fn unused(&self) -> Vec<Error> {
        let used = self.used.borrow();
        let idle_at = |offset: usize, at: usize| !used.contains(&(offset, at, StepDirection::Up));
        let mut errors = sound::idle(&self.file, &self.rows, &self.asked);
        let mut fault = |offset: usize, id: &str, problem: &str, reason: &str| {
            errors.push(self.error(offset, id, problem, reason));
        };
        let help = "it matches nothing that changed";
        for (offset, at, row, new) in self.names() {
            if idle_at(offset, at) {
                fault(offset, &row.id(), &format!("{help}: `{new}`"), &row.reason);
            }
        }
        for (offset, rule) in placed(&self.rows.rule) {
            let mut fault = |problem: String| fault(offset, &rule.id, &problem, &rule.reason);
            let said = StepDirection::BOTH.into_iter();
            for way in said.filter(|way| rule.action(*way).is_some()) {
                for (at, place) in rule.at.all().iter().enumerate() {
                    if !used.contains(&(offset, at, way)) {
                        fault(format!("{help} at `{place}` on the way {way}"));
                    }
                }
            }
            for member in &rule.covers {
                if !self.fitted.borrow().contains(&(offset, member.clone())) {
                    fault(format!(
                        "it covers `{member}`, whose limits are no tighter in the other revision"
                    ));
                }
            }
        }
        for (offset, rule) in placed(&self.rows.error) {
            // The other meaning of a code of a range is in no schema.
            if rule.code.single().is_some() && rule.method.is_none() && idle_at(offset, 0) {
                let problem = "both revisions have the code, or neither (spec/errors.toml)";
                fault(offset, &rule.id, problem, &rule.reason);
            }
        }
        for (offset, rule) in placed(&self.rows.method) {
            for (at, name) in rule.name.all().iter().enumerate() {
                if idle_at(offset, at) {
                    let problem = format!("{help}: `{name}`");
                    fault(offset, &rule.id, &problem, &rule.reason);
                }
            }
        }
        errors
    }
}

/// A decision about a place where there may be no need of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer<'r> {
    pub(super) rule: &'r PairRule,
    /// The action of the row.
    pub(super) action: &'r Action,
    key: (usize, usize, StepDirection),
}

impl Offer<'_> {
    /// Returns the offset of the rule in its file.
    pub(super) fn offset(&self) -> usize {
        self.key.0
    }
}

/// Returns the index of a place among those of a rule.
fn at(rule: &PairRule, place: &str) -> Option<usize> {
    let mut places = rule.at.all().iter();
    places.position(|pattern| matches(pattern, place))
}
