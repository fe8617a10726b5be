//! What is wrong with the rows of `errors.toml`, each by itself, beside the others, and against the schemas.

use toml::Spanned;

use super::super::range::Faults;
use super::super::rules::RuleFile;
use super::super::{Revision, Spec, Status};
use super::{CodeRange, ErrorCode, Header, ProtocolRule, Rows, RuleKind, codes};
use crate::Error;

/// A row that holds for a range of revisions.
pub(super) trait Row: Clone {
    /// Returns where its range begins and ends.
    fn ends(&self) -> (&str, Option<&str>);
    /// Returns the revisions of its range, once these are known.
    fn revisions(&self) -> &[String];
    /// Sets them.
    fn hold(&mut self, revisions: Vec<String>);
    /// Returns what every kind of row is checked for.
    fn said(&self) -> Said<'_>;

    /// Returns whether it holds for a revision.
    fn holds(&self, revision: &str) -> bool {
        self.revisions().iter().any(|id| id == revision)
    }
}

/// What every kind of row is checked for.
pub(super) struct Said<'r> {
    /// The row, as failures name it.
    label: String,
    /// What no other row may say of the same revision.
    key: String,
    /// What may not be empty.
    texts: Vec<&'r str>,
    /// What is wrong with the row by itself: each with whether it is.
    faults: Vec<(bool, &'static str)>,
}

macro_rules! rows {
    ($($kind:ident: |$row:ident| $said:expr;)*) => {$(
        impl Row for $kind {
            fn ends(&self) -> (&str, Option<&str>) {
                (&self.since, self.until.as_deref())
            }

            fn revisions(&self) -> &[String] {
                &self.revisions
            }

            fn hold(&mut self, revisions: Vec<String>) {
                self.revisions = revisions;
            }

            fn said(&self) -> Said<'_> {
                let $row = self;
                $said
            }
        }
    )*};
}

rows! {
    ErrorCode: |row| Said {
        label: format!("error {} `{}`", row.code, row.name),
        key: format!("error {}", row.code),
        texts: vec![&row.name, &row.meaning, &row.page],
        faults: Vec::new(),
    };
    CodeRange: |row| Said {
        label: format!("range `{}`", row.name),
        key: format!("range `{}`", row.name),
        texts: vec![&row.name, &row.meaning, &row.page],
        faults: vec![(row.from > row.to, "`from` is above `to`")],
    };
    Header: |row| Said {
        label: format!("header `{}`", row.name),
        key: format!("header `{}`", row.name.to_lowercase()),
        texts: vec![&row.name, &row.meaning, &row.page],
        faults: vec![
            (row.required && !row.used, "it is required and not used"),
            (row.must && !row.used, "it must be sent and is not used"),
            (
                row.must && row.required,
                "it is required, which says that it must be sent",
            ),
        ],
    };
    ProtocolRule: |row| Said {
        label: format!("rule `{}`", row.id),
        key: format!("rule `{}`", row.id),
        texts: vec![&row.id, &row.about, &row.meaning, &row.page],
        faults: vec![(
            !row.methods.is_empty() && row.kind != RuleKind::Deprecation,
            "`methods` is for deprecations only",
        )],
    };
}

/// Checks the rows, and works out the revisions of each; returns what is passed over in a draft.
pub(super) fn check(rows: &mut Rows, file: &RuleFile, spec: &Spec) -> Result<Vec<Error>, Error> {
    let mut check = Check {
        faults: Faults::new(file, spec),
        seen: Vec::new(),
    };
    check.ranges(&mut rows.error);
    check.ranges(&mut rows.range);
    check.ranges(&mut rows.header);
    check.ranges(&mut rows.rule);
    for row in &mut rows.error {
        check.carries(row.span().start, row.get_mut());
    }
    check.rows(&rows.error);
    check.rows(&rows.range);
    check.rows(&rows.header);
    check.rows(&rows.rule);
    check.replacements(&rows.error);
    check.methods(&rows.rule);
    let Faults { errors, passed, .. } = check.faults;
    Error::check(errors)?;
    Ok(passed)
}

struct Check<'a> {
    faults: Faults<'a>,
    /// What was said already, of which revision.
    seen: Vec<(String, String)>,
}

impl Check<'_> {
    /// It does not hold of one of the revisions that it names.
    fn fail_of(&mut self, revision: &str, offset: usize, label: &str, problem: String) {
        let error = (self.faults.file).error_of(revision, offset, label, problem, "");
        self.faults.errors.push(error);
    }

    /// Works out the revisions of each row; an invalid range has none.
    fn ranges<T: Row>(&mut self, rows: &mut [Spanned<T>]) {
        for row in rows {
            let (offset, row) = (row.span().start, row.get_mut());
            let (since, until) = row.ends();
            match self.faults.spec.rules.order.range(since, until) {
                Ok(revisions) => row.hold(revisions),
                Err(problem) => self.faults.fail(offset, &row.said().label, problem),
            }
        }
    }

    /// What each row says by itself, and that no two say it of one revision.
    fn rows<T: Row>(&mut self, rows: &[Spanned<T>]) {
        for row in rows {
            let (offset, row) = (row.span().start, row.get_ref());
            let Said {
                label,
                key,
                texts,
                faults,
            } = row.said();
            let empty = texts.iter().any(|text| text.trim().is_empty());
            for (is_wrong, problem) in faults.into_iter().chain([(empty, "a text is empty")]) {
                if is_wrong {
                    self.faults.fail(offset, &label, problem);
                }
            }
            for id in row.revisions() {
                let said = (key.clone(), id.clone());
                if self.seen.contains(&said) {
                    let problem = format!("another row says it for revision `{id}`");
                    self.fail_of(id, offset, &label, problem);
                }
                self.seen.push(said);
            }
        }
    }

    /// What replaces a code is sent in each of its revisions.
    fn replacements(&mut self, rows: &[Spanned<ErrorCode>]) {
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
            let label = row.said().label;
            match row.revisions.iter().find(|id| !sent(id)) {
                Some(id) => self.fail_of(id, offset, &label, problem),
                None if row.send => self.faults.fail(offset, &label, problem),
                None => {}
            }
        }
    }

    /// Each of its revisions has the methods of a rule; a draft may have lost them since.
    fn methods(&mut self, rows: &[Spanned<ProtocolRule>]) {
        for row in rows {
            let (offset, row) = (row.span().start, row.get_ref());
            for method in &row.methods {
                let lacks = |revision: &&Revision| {
                    let mut definitions = revision.definitions();
                    !definitions.any(|(_, it)| it["properties"]["method"]["const"] == **method)
                };
                let mut revisions = (self.faults.spec.revisions.iter())
                    .filter(|it| it.status != Status::Draft && row.holds(&it.id));
                if let Some(Revision { id, .. }) = revisions.find(lacks) {
                    let problem = format!("revision `{id}` has no method `{method}`");
                    self.fail_of(id, offset, &row.said().label, problem);
                }
            }
        }
    }

    /// Each of its revisions has the definition of a code, with the code; a draft that has it no more leaves the list.
    fn carries(&mut self, offset: usize, row: &mut ErrorCode) {
        let (label, code) = (row.said().label, row.code);
        let Some(definition) = &row.definition else {
            return;
        };
        for id in row.revisions.clone() {
            let Ok(revision) = self.faults.spec.revision(&id) else {
                continue;
            };
            let found = revision
                .definition(definition)
                .map(|definition| codes(definition).contains(&code));
            let problem = match found {
                Some(true) => continue,
                Some(false) => {
                    format!("`{definition}` of revision `{id}` does not state that code")
                }
                None => format!("revision `{id}` has no definition `{definition}`"),
            };
            let revisions = &mut row.revisions;
            (self.faults).contradicted(revisions, &id, (offset, &label), problem);
        }
    }
}
