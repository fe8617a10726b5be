//! Ranges of revisions: a fact holds from `since` on, up to and with `until` where that is given, in the order of
//! `revisions.toml`.

use super::revisions::RevisionRow;
use super::rules::RuleFile;
use super::{RevisionStage, Spec};
use crate::Error;

/// The ids of all revisions, in the order by which ranges are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    ids: Vec<String>,
    /// Number of states that are not drafts, which stand last.
    firm: usize,
    /// The places of drafts that are still a release which others came after, each with the place of that release.
    outlived: Vec<(usize, usize)>,
    /// Set if the ids are those of the states of an extension.
    of_states: bool,
}

impl Order {
    pub(super) fn of(rows: &[RevisionRow]) -> Self {
        Self {
            ids: rows.iter().map(|row| row.id().to_owned()).collect(),
            firm: rows.iter().filter(|row| !row.is_draft()).count(),
            ..Self::default()
        }
    }

    /// Creates the order of the states of an extension, of which the first `firm` are not drafts.
    pub(super) fn of_states(ids: Vec<String>, firm: usize) -> Self {
        Self {
            ids,
            firm,
            of_states: true,
            ..Self::default()
        }
    }

    /// Returns whether the ids are those of the states of an extension.
    pub(super) fn is_of_states(&self) -> bool {
        self.of_states
    }

    /// Returns the first revision; `None` for an empty list.
    pub fn first(&self) -> Option<&str> {
        self.ids.first().map(String::as_str)
    }

    /// Adds that a draft is still a release which others came after: what holds for that one holds for the draft.
    pub(super) fn with_outlived(mut self, draft: &str, release: &str) -> Self {
        self.outlived.extend(self.at(draft).zip(self.at(release)));
        self
    }

    /// Returns whether a range of places holds for the revision at a place.
    ///
    /// A draft that is still an earlier release has what that one has, and what begins with the draft itself.
    fn is_within(&self, (from, to): (usize, usize), at: usize) -> bool {
        let mut outlived = self.outlived.iter();
        let stands_for = outlived.find_map(|(draft, release)| (*draft == at).then_some(*release));
        let within = |at: usize| (from..=to).contains(&at);
        from == at || within(stands_for.unwrap_or(at))
    }

    /// Returns whether a range holds for a revision.
    pub fn holds(&self, since: &str, until: Option<&str>, id: &str) -> bool {
        let span = self.span(since, until).ok().zip(self.at(id));
        span.is_some_and(|(span, at)| self.is_within(span, at))
    }

    /// Returns the place of a revision, from 0.
    pub fn at(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|other| other == id)
    }

    /// Returns the last revision; `None` for an empty list.
    pub(crate) fn last(&self) -> Option<&str> {
        self.ids.last().map(String::as_str)
    }

    /// Returns the id at a place.
    pub fn id(&self, at: usize) -> Option<&str> {
        self.ids.get(at).map(String::as_str)
    }

    /// Returns the id before a revision.
    pub fn before(&self, id: &str) -> Option<&str> {
        self.id(self.at(id)?.checked_sub(1)?)
    }

    /// Returns whether nothing but drafts stands from this place on.
    pub fn only_drafts(&self, from: usize) -> bool {
        from >= self.firm
    }

    /// Returns the lines by which a row begins with a revision: for one that other releases follow, it ends there, too.
    pub(crate) fn lines(&self, id: &str) -> String {
        let last = self.at(id).is_none_or(|at| self.only_drafts(at + 1));
        if last {
            format!("since = {id:?}\n")
        } else {
            format!("since = {id:?}\nuntil = {id:?}\n")
        }
    }

    /// Returns the first and the last place of a range. Returns an error for a revision that is not there, or an end before the
    /// beginning.
    pub fn span(&self, since: &str, until: Option<&str>) -> Result<(usize, usize), String> {
        let at = |id: &str| {
            let noun = if self.of_states { "state" } else { "revision" };
            let unknown = || format!("no {noun} `{id}`; known: {}", self.ids.join(", "));
            self.at(id).ok_or_else(unknown)
        };
        let from = at(since)?;
        let to = match until {
            Some(until) => at(until)?,
            None => self.ids.len().saturating_sub(1),
        };
        if from <= to {
            Ok((from, to))
        } else {
            Err(format!(
                "`until` is `{}`, which stands before `{since}` in {}",
                until.unwrap_or_default(),
                if self.of_states {
                    "the list of states"
                } else {
                    "revisions.toml"
                }
            ))
        }
    }

    /// Returns the ids of the revisions in a range, oldest first. Fails as [`Order::span`].
    pub(crate) fn range(&self, since: &str, until: Option<&str>) -> Result<Vec<String>, String> {
        let span = self.span(since, until)?;
        let all = self.ids.iter().enumerate();
        let held = all.filter(|(at, _)| self.is_within(span, *at));
        Ok(held.map(|(_, id)| id.clone()).collect())
    }
}

/// The faults of a file's rows, by revision, while they are found.
pub(super) struct Faults<'f> {
    pub(super) file: &'f RuleFile,
    pub(super) spec: &'f Spec,
    errors: Vec<Error>,
    /// The faults that are passed over in a draft.
    passed: Vec<Error>,
}

impl<'f> Faults<'f> {
    pub(super) fn new(file: &'f RuleFile, spec: &'f Spec) -> Self {
        Self {
            file,
            spec,
            errors: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// A row does not say what it has to.
    pub(super) fn fail(&mut self, offset: usize, label: &str, problem: impl Into<Box<str>>) {
        let error = self.file.error(offset, label, problem, "", "");
        self.errors.push(error);
    }

    /// A row does not hold of one of the revisions that it names.
    pub(super) fn fail_of(&mut self, id: &str, offset: usize, label: &str, problem: String) {
        let error = self.file.error_of(id, offset, label, problem, "");
        self.errors.push(error);
    }

    /// A row does not hold of one of its revisions: a draft moves, and leaves the list, as long as another is on it.
    pub(super) fn contradicted(
        &mut self,
        revisions: &mut Vec<String>,
        id: &str,
        (offset, label): (usize, &str),
        problem: String,
    ) {
        let until = ends_before(revisions, id);
        let help = until.map_or_else(String::new, |until| format!("end it with {until}"));
        let error = self.file.error_of(id, offset, label, problem, help);
        let is_draft = (self.spec.revision(id)).is_ok_and(|of| of.status == RevisionStage::Draft);
        if is_draft && revisions.first().is_some_and(|first| first != id) {
            revisions.retain(|other| other != id);
            self.passed.push(error);
        } else {
            self.errors.push(error)
        }
    }

    /// Returns the errors of drafts, which are passed over, or an error of any other revision.
    pub(super) fn done(self) -> Result<Vec<Error>, Error> {
        Error::check(self.errors)?;
        Ok(self.passed)
    }
}

/// Returns the line by which a row ends before a revision of its range; `None` if it begins with that.
pub(super) fn ends_before(revisions: &[String], id: &str) -> Option<String> {
    let at = revisions.iter().position(|other| other == id)?;
    let before = revisions.get(at.checked_sub(1)?)?;
    Some(format!("`until = \"{before}\"`"))
}
