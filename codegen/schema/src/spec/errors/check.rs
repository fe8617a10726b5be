//! The faults of the rows of `errors.toml`, each by itself, beside the others, and against the schemas.

use crate::sorted::SortedSet;
use toml::Spanned;

use super::super::methods::messages;
use super::super::range::Faults;
use super::super::rules::RuleFile;
use super::super::{Revision, RevisionStage, Spec};
use super::{ErrorCode, ErrorTables, ProtocolRule, codes};
use crate::Error;

/// A row that holds for a range of revisions.
pub(super) trait CheckedRow {
    /// Returns the begin and the end of its range, and the revisions in it, to be filled in.
    fn range(&mut self) -> (&str, Option<&str>, &mut Vec<String>);
    /// Returns the revisions of its range, once these are known.
    fn revisions(&self) -> &[String];
    /// Returns the page that states it.
    fn page(&mut self) -> &mut String;
    /// Returns the facts that are checked of every kind of row.
    fn row_facts(&self) -> RowFacts<'_>;

    fn holds(&self, revision: &str) -> bool {
        self.revisions().iter().any(|id| id == revision)
    }
}

/// The checked parts of a row of any kind.
pub(super) struct RowFacts<'r> {
    /// The row, as failures name it.
    pub(super) label: String,
    /// The key, which no other row of the same revision may have.
    pub(super) key: String,
    /// The texts that may not be empty.
    pub(super) texts: Vec<&'r str>,
    /// The faults of the row by itself, each with its condition.
    pub(super) faults: Vec<(bool, &'static str)>,
}

/// Checks the rows, and works out the revisions of each; returns what is passed over in a draft.
pub(super) fn check(
    rows: &mut ErrorTables,
    file: &RuleFile,
    spec: &Spec,
) -> Result<Vec<Error>, Error> {
    let mut faults = Faults::new(file, spec);
    each(&mut faults, &mut rows.error, carries);
    each(&mut faults, &mut rows.range, |_, _, _| {});
    each(&mut faults, &mut rows.header, |_, _, _| {});
    each(&mut faults, &mut rows.rule, |_, _, _| {});
    replacements(&mut faults, &rows.error);
    methods(&mut faults, &rows.rule);
    faults.done()
}

/// Works out the revisions of each row, and checks by `carries` which of them bear it out; then what it says by itself, and
/// that no two rows say it of one revision. An invalid range has no revisions.
fn each<T: CheckedRow>(
    faults: &mut Faults<'_>,
    rows: &mut [Spanned<T>],
    carries: impl Fn(&mut Faults<'_>, usize, &mut T),
) {
    let mut seen = SortedSet::new();
    for row in rows {
        let (offset, row) = (row.span().start, row.get_mut());
        let (since, until, revisions) = row.range();
        match faults.spec.rules.order.range(since, until) {
            Ok(range) => *revisions = range,
            Err(problem) => faults.fail(offset, &row.row_facts().label, problem),
        }
        carries(faults, offset, row);
        let said = row.row_facts();
        let empty = said.texts.iter().any(|text| text.trim().is_empty());
        for (is_wrong, problem) in said.faults.into_iter().chain([(empty, "a text is empty")]) {
            if is_wrong {
                faults.fail(offset, &said.label, problem);
            }
        }
        for id in row.revisions() {
            if !seen.insert((said.key.clone(), id.clone())) {
                let problem = format!("another row says it for revision `{id}`");
                faults.fail_of(id, offset, &said.label, problem);
            }
        }
    }
}

/// Finds replacements of a code that are not sent in each of its revisions.
fn replacements(faults: &mut Faults<'_>, rows: &[Spanned<ErrorCode>]) {
    for row in rows {
        let (offset, row) = (row.span().start, row.get_ref());
        let Some(replacement) = row.replaced_by else {
            continue;
        };
        let sent = |id: &&String| {
            let mut others = rows.iter().map(Spanned::get_ref);
            others.any(|other| other.code == replacement && other.send && other.holds(id))
        };
        let problem = format!(
            "`replaced-by` is for a code that is not sent, and names one that is; {replacement} is none of these revisions'"
        );
        let label = row.row_facts().label;
        match row.revisions.iter().find(|id| !sent(id)) {
            Some(id) => faults.fail_of(id, offset, &label, problem),
            None if row.send => faults.fail(offset, &label, problem),
            None => {}
        }
    }
}

/// Each of its revisions has the methods of a rule; a draft may have lost them since.
fn methods(faults: &mut Faults<'_>, rows: &[Spanned<ProtocolRule>]) {
    for row in rows {
        let (offset, row) = (row.span().start, row.get_ref());
        for method in &row.methods {
            let lacks =
                |revision: &&Revision| messages(&revision.schema).all(|(name, _)| name != method);
            let mut revisions = (faults.spec.revisions.iter())
                .filter(|it| it.status != RevisionStage::Draft && row.holds(&it.id));
            if let Some(Revision { id, .. }) = revisions.find(lacks) {
                let problem = format!("revision `{id}` has no method `{method}`");
                faults.fail_of(id, offset, &row.row_facts().label, problem);
            }
        }
    }
}

/// Each of its revisions has the definition of a code, with the code; a draft that has it no more leaves the list.
fn carries(faults: &mut Faults<'_>, offset: usize, row: &mut ErrorCode) {
    let (label, code) = (row.row_facts().label, row.code);
    let Some(definition) = &row.definition else {
        return;
    };
    for id in row.revisions.clone() {
        let Ok(revision) = faults.spec.revision(&id) else {
            continue;
        };
        let found = revision.definition(definition).map(codes);
        let problem = match found {
            Some(codes) if codes.contains(&code) => continue,
            Some(_) => format!("`{definition}` of revision `{id}` does not state that code"),
            None => format!("revision `{id}` has no definition `{definition}`"),
        };
        faults.contradicted(&mut row.revisions, &id, (offset, &label), problem);
    }
}
