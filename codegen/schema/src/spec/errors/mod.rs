//! `errors.toml`: error codes, HTTP headers and rules that the protocol states and the schema does not carry.

mod check;

use crate::sorted::SortedMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::range::Order;
use super::toml_text::quoted;
use super::{Revision, Spec};
use crate::Error;
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::pointer::escaped;
use check::{CheckedRow, RowFacts};

/// The rules, checked against the revisions.
#[derive(Clone, Debug, Default)]
pub struct ErrorRules {
    /// Error codes, in the order of the file.
    pub errors: Vec<ErrorCode>,
    /// Ranges of error codes.
    pub ranges: Vec<CodeRange>,
    /// HTTP headers.
    pub headers: Vec<Header>,
    /// Other rules that bind a peer, and deprecated parts.
    pub rules: Vec<ProtocolRule>,
}

/// A kind of row: its own members, how failures name it, what no other row may say of the same revision, its own text that
/// may not be empty, and what is wrong with it by itself.
macro_rules! rows {
    ($($(#[$about:meta])* $kind:ident {
        $($(#[$of:meta])* $member:ident: $type:ty,)*
    } |$row:ident| ($label:expr, $key:expr, $texts:expr, $faults:expr);)*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $kind {
            $($(#[$of])* pub $member: $type,)*
            /// The revisions in which it holds.
            #[serde(skip)]
            pub revisions: Vec<String>,
            /// The first revision in which it holds.
            pub since: String,
            /// The last one; `None` if it holds until now.
            pub until: Option<String>,
            /// The meaning; of a rule, its text; of a header, its occasion and its content.
            pub meaning: String,
            /// The page, as a path in the specification's repository.
            pub page: String,
        }

        impl CheckedRow for $kind {
            fn range(&mut self) -> (&str, Option<&str>, &mut Vec<String>) {
                (&self.since, self.until.as_deref(), &mut self.revisions)
            }

            fn revisions(&self) -> &[String] {
                &self.revisions
            }

            fn page(&mut self) -> &mut String {
                &mut self.page
            }

            fn row_facts(&self) -> RowFacts<'_> {
                let $row = self;
                let mut texts: Vec<&str> = vec![&self.meaning, &self.page];
                texts.extend($texts);
                RowFacts { label: $label, key: $key, texts, faults: $faults }
            }
        }
    )*};
}

rows! {
    /// An error code and what it means in some revisions.
    #[derive(Default)]
    ErrorCode {
        /// The JSON-RPC code.
        code: i64,
        /// Its name.
        name: String,
        /// The HTTP status that goes with it, where the protocol fixes one.
        http: Option<u16>,
        /// The definition that carries it in the schema, where there is one.
        definition: Option<String>,
        /// Set if it may be sent; one that may not can still be met.
        #[serde(default = "by_default")]
        send: bool,
        /// The code that is sent in its place, where the protocol names one; only of a code that may not be sent.
        #[serde(rename = "replaced-by")]
        replaced_by: Option<i64>,
    } |row| (
        format!("error {} `{}`", row.code, row.name),
        format!("error {}", row.code),
        [&*row.name],
        Vec::new()
    );
    /// A range of error codes.
    CodeRange {
        /// The lowest code.
        from: i64,
        /// The highest code.
        to: i64,
        /// Its name.
        name: String,
    } |row| (
        format!("range `{}`", row.name),
        format!("range `{}`", row.name),
        [&*row.name],
        vec![(row.from > row.to, "`from` is above `to`")]
    );
    /// An HTTP header and what it has to say.
    Header {
        /// Its name; compared without case.
        name: String,
        /// Set if it is used; one that is not can still come from a peer of another revision.
        #[serde(default = "by_default")]
        used: bool,
        /// Set if a client must send it, although a request without it may be taken.
        #[serde(default)]
        must: bool,
        /// Set if a request that has to carry it, and does not, is refused.
        #[serde(default)]
        required: bool,
    } |row| (
        format!("header `{}`", row.name),
        format!("header `{}`", row.name.to_lowercase()),
        [&*row.name],
        vec![
            (row.required && !row.used, "it is required and not used"),
            (row.must && !row.used, "it must be sent and is not used"),
            (row.must && row.required, "it is required, which says that it must be sent"),
        ]
    );
    /// A rule that binds a peer and stands in no schema, or a part that is deprecated.
    ProtocolRule {
        /// Its name, unique.
        id: String,
        /// The kind: a binding rule, or a deprecation.
        kind: RuleKind,
        /// The theme that it belongs to: the area of a method, or a part that all exchanges have.
        about: String,
        /// The methods that are deprecated with it; calls of them warn.
        #[serde(default)]
        methods: Vec<String>,
    } |row| (
        format!("rule `{}`", row.id),
        format!("rule `{}`", row.id),
        [&*row.id, &*row.about],
        vec![(
            !row.methods.is_empty() && row.kind != RuleKind::Deprecation,
            "`methods` is for deprecations only",
        )]
    );
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
struct ErrorTables {
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
    pub fn deprecated(&self, revision: &str) -> SortedMap<String, String> {
        let rules = (self.rules.iter())
            .filter(|rule| rule.kind == RuleKind::Deprecation && rule.holds(revision));
        let methods = rules.flat_map(|rule| rule.methods.iter().map(move |method| (method, rule)));
        methods
            .map(|(method, rule)| (method.clone(), rule.meaning.clone()))
            .collect()
    }

    /// Returns the codes that the schema of a revision has and no row names, each once, with its definition.
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

    /// Returns the decisions that these codes need.
    pub(crate) fn open(&self, revision: &Revision, order: &Order) -> Vec<Decision> {
        let of = |(code, name): (i64, &str)| Decision {
            scope: Scope::Revision(revision.id.clone()),
            place: format!("/$defs/{}", escaped(name)),
            question: QuestionKind::Code,
            open: format!("nothing says what its code {code} means"),
            answer: "a peer may send it".to_owned(),
            settle: Settle::of(
                Self::FILE,
                format!(
                    "[[error]]\ncode = {code}\nname = {}\n{}meaning = \"\"\ndefinition = {}\npage = \"schema/{{revision}}/schema.ts\"\n",
                    quoted(name.strip_suffix("Error").unwrap_or(name)),
                    order.lines(&revision.id),
                    quoted(name)
                ),
            ),
        };
        self.unlisted(revision).into_iter().map(of).collect()
    }

    /// The name of the file below the spec directory.
    pub const FILE: &str = "errors.toml";

    /// Reads the rules of a spec. Fails for a revision or definition that is not there, a code that the definition does not
    /// carry, and two rows that say different things of the same revision.
    pub fn read(spec: &Spec) -> Result<Self, Error> {
        Self::read_all(spec).map(|(rules, _)| rules)
    }

    /// Returns the same, with what begins before a draft and does not hold for it, which is passed over there.
    pub fn read_all(spec: &Spec) -> Result<(Self, Vec<Error>), Error> {
        let file = spec.rules.get(Self::FILE);
        let mut rows: ErrorTables = file.parse()?;
        let passed = check::check(&mut rows, &file, spec)?;
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

    /// Returns the rules of one revision, with its pages.
    pub fn of(&self, revision: &Revision) -> Self {
        fn rows_of<T: CheckedRow + Clone>(rows: &[T], of: &Revision) -> Vec<T> {
            let mut held: Vec<T> = (rows.iter().filter(|row| row.holds(&of.id)).cloned()).collect();
            for row in &mut held {
                let page = row.page();
                *page = of.status.placed(page, &of.id);
            }
            held
        }
        Self {
            errors: rows_of(&self.errors, revision),
            ranges: rows_of(&self.ranges, revision),
            headers: rows_of(&self.headers, revision),
            rules: rows_of(&self.rules, revision),
        }
    }
}

/// Returns the constant values of `code`, directly or in the parts of an `allOf`, in the definition or its `error`.
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
