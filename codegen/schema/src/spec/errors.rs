//! `errors.toml`: error codes, HTTP headers and rules that the protocol states and the schema does not carry.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;

use super::range::{Order, ends_before};
use super::rules::RuleFile;
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorCode {
    /// The JSON-RPC code.
    pub code: i64,
    /// Its name.
    pub name: String,
    /// The revisions in which it means that.
    pub revisions: Vec<String>,
    /// What it means.
    pub meaning: String,
    /// The HTTP status that goes with it, where the protocol fixes one.
    pub http: Option<u16>,
    /// The definition that carries it in the schema, where there is one.
    pub definition: Option<String>,
    /// Whether it may be sent; one that may not can still be met.
    pub send: bool,
    /// The code that is sent in its place, where the protocol names one; only of a code that may not be sent.
    pub replaced_by: Option<i64>,
    /// The page, as a path in the specification's repository.
    pub page: String,
}

/// A range of error codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeRange {
    /// The lowest code.
    pub from: i64,
    /// The highest code.
    pub to: i64,
    /// Its name.
    pub name: String,
    /// The revisions in which it holds.
    #[serde(skip_deserializing)]
    pub revisions: Vec<String>,
    #[serde(skip_serializing)]
    since: String,
    #[serde(default, skip_serializing)]
    until: Option<String>,
    /// What it means.
    pub meaning: String,
    /// The page.
    pub page: String,
}

/// An HTTP header and what it has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Its name; compared without case.
    pub name: String,
    /// The revisions in which that holds.
    #[serde(skip_deserializing)]
    pub revisions: Vec<String>,
    #[serde(skip_serializing)]
    since: String,
    #[serde(default, skip_serializing)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRule {
    /// Its name, unique.
    pub id: String,
    /// Whether it binds, or says that something goes away.
    pub kind: RuleKind,
    /// The revisions in which it holds.
    #[serde(skip_deserializing)]
    pub revisions: Vec<String>,
    #[serde(skip_serializing)]
    since: String,
    #[serde(default, skip_serializing)]
    until: Option<String>,
    /// The theme that it belongs to: the area of a method, or a part that all exchanges have.
    pub about: String,
    /// The methods that go with what goes away; calls of them warn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// What it says.
    pub meaning: String,
    /// The page.
    pub page: String,
}

/// The kind of a [`ProtocolRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    error: Vec<Spanned<ErrorRow>>,
    #[serde(default)]
    range: Vec<Spanned<CodeRange>>,
    #[serde(default)]
    header: Vec<Spanned<Header>>,
    #[serde(default)]
    rule: Vec<Spanned<ProtocolRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorRow {
    code: i64,
    name: String,
    #[serde(skip)]
    revisions: Vec<String>,
    since: String,
    until: Option<String>,
    meaning: String,
    http: Option<u16>,
    definition: Option<String>,
    #[serde(default = "by_default")]
    send: bool,
    #[serde(rename = "replaced-by")]
    replaced_by: Option<i64>,
    page: String,
}

fn by_default() -> bool {
    true
}

impl ErrorRules {
    /// The methods of a revision that go away, each with what is said of that.
    #[must_use]
    pub fn deprecated(&self, revision: &str) -> BTreeMap<String, String> {
        let rules = self.rules.iter().filter(|rule| {
            rule.kind == RuleKind::Deprecation && rule.revisions.iter().any(|id| id == revision)
        });
        let methods = rules.flat_map(|rule| rule.methods.iter().map(move |method| (method, rule)));
        methods
            .map(|(method, rule)| (method.clone(), rule.meaning.clone()))
            .collect()
    }

    /// The codes that the schema of a revision carries and no row speaks of, each once, with its definition.
    #[must_use]
    pub fn unlisted<'r>(&self, revision: &'r Revision) -> Vec<(i64, &'r str)> {
        let listed = |code: i64| {
            (self.errors.iter()).any(|row| row.code == code && row.revisions.contains(&revision.id))
        };
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

    /// Read the rules of a spec.
    ///
    /// # Errors
    /// [`Error::Rule`] for a revision or definition that is not there, for a code that the definition does not carry,
    /// and for two rows that say different things of the same revision.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        Self::read_all(spec).map(|(rules, _)| rules)
    }

    /// The same, with what begins before a draft and does not hold for it, which is passed over there.
    pub(super) fn read_all(spec: &Spec) -> Result<(Self, Vec<Error>), Error> {
        let file = spec.rules.get(Self::FILE);
        let Rows {
            mut error,
            mut range,
            mut header,
            mut rule,
        } = file.parse()?;
        let mut check = Check {
            spec,
            file: &file,
            errors: Vec::new(),
            passed: Vec::new(),
            seen: Vec::new(),
        };
        for row in &mut error {
            let (offset, row) = (row.span().start, row.get_mut());
            let label = format!("error {} `{}`", row.code, row.name);
            row.revisions = check.range(offset, &label, &row.since, row.until.as_deref());
            if let Some(definition) = &row.definition {
                check.carries(offset, label, &mut row.revisions, definition, row.code);
            }
        }
        for row in &mut range {
            let (offset, row) = (row.span().start, row.get_mut());
            let label = format!("range `{}`", row.name);
            row.revisions = check.range(offset, &label, &row.since, row.until.as_deref());
        }
        for row in &mut header {
            let (offset, row) = (row.span().start, row.get_mut());
            let label = format!("header `{}`", row.name);
            row.revisions = check.range(offset, &label, &row.since, row.until.as_deref());
        }
        for row in &mut rule {
            let (offset, row) = (row.span().start, row.get_mut());
            let label = format!("rule `{}`", row.id);
            row.revisions = check.range(offset, &label, &row.since, row.until.as_deref());
        }
        for row in &error {
            let ErrorRow {
                code,
                name,
                revisions,
                meaning,
                page,
                send,
                replaced_by,
                ..
            } = row.get_ref();
            let label = format!("error {code} `{name}`");
            check.row(
                row.span().start,
                label.clone(),
                format!("error {code}"),
                revisions,
                &[name, meaning, page],
            );
            let Some(replacement) = replaced_by else {
                continue;
            };
            let sent = |id: &&String| {
                error.iter().map(Spanned::get_ref).any(|other| {
                    other.code == *replacement && other.send && other.revisions.contains(id)
                })
            };
            let problem = format!(
                "`replaced-by` is for a code that is not sent, and names one that is; {replacement} is none of these revisions'"
            );
            let offset = row.span().start;
            match revisions.iter().find(|id| !sent(id)) {
                Some(id) => check.fail_of(id, offset, label, problem),
                None if *send => check.fail(offset, label, problem),
                None => {}
            }
        }
        for row in &range {
            let CodeRange {
                from,
                to,
                name,
                revisions,
                meaning,
                page,
                ..
            } = row.get_ref();
            let label = format!("range `{name}`");
            if from > to {
                check.fail(
                    row.span().start,
                    label.clone(),
                    "`from` is above `to`".into(),
                );
            }
            check.row(
                row.span().start,
                label.clone(),
                label,
                revisions,
                &[name, meaning, page],
            );
        }
        for row in &header {
            let Header {
                name,
                revisions,
                meaning,
                used,
                must,
                required,
                page,
                ..
            } = row.get_ref();
            let label = format!("header `{name}`");
            for (is_said, problem) in [
                (*required && !used, "it is required and not used"),
                (*must && !used, "it must be sent and is not used"),
                (
                    *must && *required,
                    "it is required, which says that it must be sent",
                ),
            ] {
                if is_said {
                    check.fail(row.span().start, label.clone(), problem.into());
                }
            }
            check.row(
                row.span().start,
                label.clone(),
                label.to_lowercase(),
                revisions,
                &[name, meaning, page],
            );
        }
        for row in &rule {
            let ProtocolRule {
                id,
                revisions,
                about,
                methods,
                meaning,
                page,
                kind,
                ..
            } = row.get_ref();
            let label = format!("rule `{id}`");
            if !methods.is_empty() && *kind != RuleKind::Deprecation {
                let problem = "`methods` says what goes away: that is a deprecation's alone";
                check.fail(row.span().start, label.clone(), problem.into());
            }
            for method in methods {
                check.has_method(row.span().start, &label, revisions, method);
            }
            check.row(
                row.span().start,
                label.clone(),
                label,
                revisions,
                &[id, about, meaning, page],
            );
        }
        Error::check(check.errors)?;
        let rules = Self {
            errors: error
                .into_iter()
                .map(|row| row.into_inner().into())
                .collect(),
            ranges: range.into_iter().map(Spanned::into_inner).collect(),
            headers: header.into_iter().map(Spanned::into_inner).collect(),
            rules: rule.into_iter().map(Spanned::into_inner).collect(),
        };
        Ok((rules, check.passed))
    }
}

impl From<ErrorRow> for ErrorCode {
    fn from(row: ErrorRow) -> Self {
        let ErrorRow {
            code,
            name,
            revisions,
            meaning,
            http,
            definition,
            send,
            replaced_by,
            page,
            since: _,
            until: _,
        } = row;
        Self {
            code,
            name,
            revisions,
            meaning,
            http,
            definition,
            send,
            replaced_by,
            page,
        }
    }
}

struct Check<'a> {
    spec: &'a Spec,
    file: &'a RuleFile,
    errors: Vec<Error>,
    /// What is passed over in a draft.
    passed: Vec<Error>,
    /// What was said already, of which revision.
    seen: Vec<(String, String)>,
}

impl Check<'_> {
    /// Each of the revisions has the method; a draft may have lost it since.
    fn has_method(&mut self, offset: usize, label: &str, revisions: &[String], method: &str) {
        let lacks = |revision: &&Revision| {
            let definitions = revision.schema["$defs"].as_object().into_iter().flatten();
            !definitions
                .map(|(_, definition)| &definition["properties"]["method"]["const"])
                .any(|it| it == method)
        };
        let of_rule = |revision: &&Revision| {
            revision.status != Status::Draft && revisions.contains(&revision.id)
        };
        let without = self.spec.revisions.iter().filter(of_rule).find(lacks);
        if let Some(revision) = without {
            let id = &revision.id;
            let problem = format!("revision `{id}` has no method `{method}`");
            self.fail_of(id, offset, label.to_owned(), problem);
        }
    }

    fn fail(&mut self, offset: usize, label: String, problem: String) {
        self.errors
            .push(self.file.error(offset, label, problem, "", ""));
    }

    /// It does not hold of one of the revisions that it names.
    fn fail_of(&mut self, revision: &str, offset: usize, label: String, problem: String) {
        self.errors
            .push(self.file.error_of(revision, offset, label, problem, ""));
    }

    /// Returns the revisions of a range; an invalid range has none.
    fn range(
        &mut self,
        offset: usize,
        label: &str,
        since: &str,
        until: Option<&str>,
    ) -> Vec<String> {
        match self.spec.rules.order.range(since, until) {
            Ok(revisions) => revisions,
            Err(problem) => {
                self.fail(offset, label.to_owned(), problem);
                Vec::new()
            }
        }
    }

    fn row(
        &mut self,
        offset: usize,
        label: String,
        key: String,
        revisions: &[String],
        texts: &[&String],
    ) {
        if texts.iter().any(|text| text.trim().is_empty()) {
            self.fail(offset, label.clone(), "a text is empty".into());
        }
        for id in revisions {
            let said = (key.clone(), id.clone());
            if self.seen.contains(&said) {
                let problem = format!("another row says it for revision `{id}`");
                self.fail_of(id, offset, label.clone(), problem);
            }
            self.seen.push(said);
        }
    }

    /// Each of the revisions has the definition, with the code; a draft that has it no more leaves the list.
    fn carries(
        &mut self,
        offset: usize,
        label: String,
        revisions: &mut Vec<String>,
        definition: &str,
        code: i64,
    ) {
        let all = revisions.clone();
        for id in &all {
            let Ok(revision) = self.spec.revision(id) else {
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
            let help = ends_before(&all, id)
                .map_or_else(String::new, |until| format!("end it with {until}"));
            let error = self.file.error_of(id, offset, label.clone(), problem, help);
            if revision.status == Status::Draft && all.first() != Some(id) {
                revisions.retain(|other| other != id);
                self.passed.push(error);
            } else {
                self.errors.push(error);
            }
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
