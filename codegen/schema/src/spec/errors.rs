//! `errors.toml`: error codes, HTTP headers and rules that the protocol states and the schema does not carry.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::range::{Faults, Order};
use super::{Revision, Spec, Status};
use crate::Error;
use crate::decision::{Decision, Question, Scope, Settle};
use crate::pointer::escaped;

/// The rules, checked against the revisions.
#[derive(Clone, Debug, Default)]
pub struct ErrorRules {
    /// Error codes, in the order of the file.
    pub errors: Vec<ErrorCode>,
    /// Ranges of error codes.
    pub ranges: Vec<CodeRange>,
    /// HTTP headers.
    pub headers: Vec<Header>,
    /// What else binds a peer, and what is on its way out.
    pub rules: Vec<ProtocolRule>,
}

/// An error code and what it means in some revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCode {
    /// The JSON-RPC code.
    pub code: i64,
    /// Its name.
    pub name: String,
    /// The revisions in which it means that.
    #[serde(skip)]
    pub revisions: Vec<String>,
    pub(crate) since: String,
    pub(crate) until: Option<String>,
    /// What it means.
    pub meaning: String,
    /// The HTTP status that goes with it, where the protocol fixes one.
    pub http: Option<u16>,
    /// The definition that carries it in the schema, where there is one.
    pub definition: Option<String>,
    /// Whether it may be sent; one that may not can still be met.
    #[serde(default = "by_default")]
    pub send: bool,
    /// The code that is sent in its place, where the protocol names one; only of a code that may not be sent.
    #[serde(rename = "replaced-by")]
    pub replaced_by: Option<i64>,
    /// The page, as a path in the specification's repository.
    pub page: String,
}

/// A range of error codes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeRange {
    /// The lowest code.
    pub from: i64,
    /// The highest code.
    pub to: i64,
    /// Its name.
    pub name: String,
    /// The revisions in which it holds.
    #[serde(skip)]
    pub revisions: Vec<String>,
    since: String,
    until: Option<String>,
    /// What it means.
    pub meaning: String,
    /// The page.
    pub page: String,
}

/// An HTTP header and what it has to say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name; compared without case.
    pub name: String,
    /// The revisions in which that holds.
    #[serde(skip)]
    pub revisions: Vec<String>,
    since: String,
    until: Option<String>,
    /// When it is sent and what it says.
    pub meaning: String,
    /// Whether it is used; one that is not can still come from a peer of another revision.
    #[serde(default = "by_default")]
    pub used: bool,
    /// Whether a client must send it, although a request without it may be taken.
    #[serde(default)]
    pub must: bool,
    /// Whether a request that has to carry it, and does not, is refused.
    #[serde(default)]
    pub required: bool,
    /// The page.
    pub page: String,
}

/// What binds a peer and stands in no schema, or is on its way out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRule {
    /// Its name, unique.
    pub id: String,
    /// Whether it binds, or says that something goes away.
    pub kind: RuleKind,
    /// The revisions in which it holds.
    #[serde(skip)]
    pub revisions: Vec<String>,
    since: String,
    until: Option<String>,
    /// The theme that it belongs to: the area of a method, or a part that all exchanges have.
    pub about: String,
    /// The methods that are deprecated with it; calls of them warn.
    #[serde(default)]
    pub methods: Vec<String>,
    /// What it says.
    pub meaning: String,
    /// The page.
    pub page: String,
}

/// The kind of a [`ProtocolRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleKind {
    /// Something that a peer has to do or refrain from.
    Binding,
    /// Something that will be taken out of the protocol.
    Deprecation,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    #[serde(default)]
    error: Vec<Spanned<ErrorCode>>,
    #[serde(default)]
    range: Vec<Spanned<CodeRange>>,
    #[serde(default)]
    header: Vec<Spanned<Header>>,
    #[serde(default)]
    rule: Vec<Spanned<ProtocolRule>>,
}

fn by_default() -> bool {
    true
}

impl ErrorRules {
    /// Returns the deprecated methods of a revision, each with its note.
    #[must_use]
    pub fn deprecated(&self, revision: &str) -> BTreeMap<String, String> {
        let rules = (self.rules.iter())
            .filter(|rule| rule.kind == RuleKind::Deprecation && rule.holds(revision));
        let methods = rules.flat_map(|rule| rule.methods.iter().map(move |method| (method, rule)));
        methods
            .map(|(method, rule)| (method.clone(), rule.meaning.clone()))
            .collect()
    }

    /// Returns the codes that the schema of a revision has and no row names, each once, with its definition.
    #[must_use]
    pub fn unlisted<'r>(&self, revision: &'r Revision) -> Vec<(i64, &'r str)> {
        let listed =
            |code: i64| (self.errors.iter()).any(|row| row.code == code && row.holds(&revision.id));
        let of_each = (revision.definitions())
            .flat_map(|(name, schema)| codes(schema).into_iter().map(move |code| (code, name)));
        let mut unlisted: Vec<(i64, &str)> = Vec::new();
        for (code, name) in of_each.filter(|(code, _)| !listed(*code)) {
            if !unlisted.iter().any(|(known, _)| *known == code) {
                unlisted.push((code, name));
            }
        }
        unlisted
    }

    /// What has to be said of these codes.
    pub(crate) fn open(&self, revision: &Revision, order: &Order) -> Vec<Decision> {
        let of = |(code, name): (i64, &str)| Decision {
            scope: Scope::Revision(revision.id.clone()),
            place: format!("/$defs/{}", escaped(name)),
            question: Question::Code,
            open: format!("nothing says what its code {code} means"),
            answer: "a peer may send it".to_owned(),
            settle: Settle {
                file: Self::FILE.to_owned(),
                stub: format!(
                    "[[error]]\ncode = {code}\nname = {:?}\n{}meaning = \"\"\ndefinition = {name:?}\npage = \"schema/{{revision}}/schema.ts\"\n",
                    name.strip_suffix("Error").unwrap_or(name),
                    order.lines(&revision.id)
                ),
            },
        };
        self.unlisted(revision).into_iter().map(of).collect()
    }

    /// The name of the file below the spec directory.
    pub const FILE: &str = "errors.toml";

    /// Reads the rules of a spec.
    ///
    /// # Errors
    /// A revision or definition that is not there, a code that the definition does not carry,
    /// and two rows that say different things of the same revision.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        Self::read_all(spec).map(|(rules, _)| rules)
    }

    /// The same, with what begins before a draft and does not hold for it, which is passed over there.
    pub(super) fn read_all(spec: &Spec) -> Result<(Self, Vec<Error>), Error> {
        let file = spec.rules.get(Self::FILE);
        let mut rows: Rows = file.parse()?;
        let mut check = Check {
            faults: Faults::new(&file, spec),
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
        fn plain<T>(rows: Vec<Spanned<T>>) -> Vec<T> {
            rows.into_iter().map(Spanned::into_inner).collect()
        }
        let rules = Self {
            errors: plain(rows.error),
            ranges: plain(rows.range),
            headers: plain(rows.header),
            rules: plain(rows.rule),
        };
        Ok((rules, passed))
    }

    /// Returns what holds for one revision.
    #[must_use]
    pub fn of(&self, revision: &str) -> Self {
        fn held<T: Row>(rows: &[T], revision: &str) -> Vec<T> {
            let rows = rows.iter().filter(|row| row.holds(revision));
            rows.cloned().collect()
        }
        Self {
            errors: held(&self.errors, revision),
            ranges: held(&self.ranges, revision),
            headers: held(&self.headers, revision),
            rules: held(&self.rules, revision),
        }
    }
}

/// A row that holds for a range of revisions.
trait Row: Clone {
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
struct Said<'r> {
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

/// The constant values of `code`, directly or in the parts of an `allOf`, in the definition or its `error`.
fn codes(schema: &Value) -> Vec<i64> {
    let parts = schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let within = parts.chain(schema.pointer("/properties/error"));
    let stated = schema.pointer("/properties/code/const");
    (stated.and_then(Value::as_i64).into_iter())
        .chain(within.flat_map(codes))
        .collect()
}
