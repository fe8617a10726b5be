//! Decisions about the Rust side that are data: names, opaque values, unions.
//!
//! A row with `since` holds from that revision on, up to and with `until` where that is given; one without holds for every
//! revision that has its place. Rows in the folder of an extension hold for that extension, before all others.
//! Every rule must be of use: [`Rules::unused`] reports those that no revision needed, with file and line.

mod constructors;
mod held;
mod mistakes;
mod pattern;
pub(crate) mod source;

use crate::sorted::SortedMap;

use serde::Deserialize;
use toml::Spanned;

use crate::Error;
use crate::decision::Scope;
use crate::model::Model;
use crate::naming::{OTHER, is_identifier, pascal_case};
use crate::schema::JsonType;
use crate::spec::extensions::{FACTS, FOLDER};
use crate::spec::range::Order;
use crate::spec::rules::{RuleFile, RuleTexts};
use crate::spec::{DOCS, ERRATA};
use constructors::Constructors;
pub use constructors::InitialValue;
pub(crate) use held::HeldRules;
use mistakes::MistakeRules;
pub use mistakes::{MistakeTreatment, MistakeValueKind, ModelMistake};
pub use pattern::matches;
use source::RuleSource;

/// The rules of `names.toml`, `shapes.toml`, `unions.toml`, `constructors.toml` and `mistakes.toml`.
#[derive(Debug, Default)]
pub struct Rules {
    names: RuleSource<NameRules>,
    shapes: RuleSource<Shapes>,
    unions: RuleSource<Unions>,
    constructors: RuleSource<Constructors>,
    mistakes: RuleSource<MistakeRules>,
    order: Order,
    /// The rules of extensions, by name.
    extensions: SortedMap<String, Rules>,
}

/// The files that the folder of an extension may have, beside those of conversions.
const OF_EXTENSIONS: &[&str] = &[
    FACTS,
    ERRATA,
    DOCS,
    "names.toml",
    "shapes.toml",
    "unions.toml",
    constructors::FILE,
];

/// A row that may hold for a range of revisions.
trait Ranged {
    /// Returns the first and the last revision that it holds for, as it is written.
    fn range(&self) -> [Option<&str>; 2];
}

macro_rules! ranged {
    ($($row:ty),*) => {$(
        impl Ranged for $row {
            fn range(&self) -> [Option<&str>; 2] {
                [self.since.as_deref(), self.until.as_deref()]
            }
        }
    )*};
}

ranged!(
    Inline,
    TypeName,
    MemberName,
    Runtime,
    ShapeRule,
    UnionRule,
    constructors::ValueRule
);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct NameRules {
    /// Definition to Rust type.
    types: SortedMap<String, Spanned<String>>,
    /// Inline schema to type name.
    inline: Vec<Spanned<Inline>>,
    /// Definition to a type of a hand-written crate.
    runtime: SortedMap<String, Spanned<Runtime>>,
    /// Wire name, or `Type.wire name`, to field name.
    members: SortedMap<String, Spanned<String>>,
    /// Names of definitions for a range of revisions, before those of `types`.
    r#type: Vec<Spanned<TypeName>>,
    /// Names of fields for a range of revisions, before those of `members`.
    member: Vec<Spanned<MemberName>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inline {
    at: String,
    name: String,
    since: Option<String>,
    until: Option<String>,
}

/// The name of a definition in Rust.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeName {
    definition: String,
    name: String,
    since: Option<String>,
    until: Option<String>,
}

/// The field of a member, by wire name or by `Type.wire name`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberName {
    at: String,
    name: String,
    since: Option<String>,
    until: Option<String>,
}

/// A type of a hand-written crate that stands for a definition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Runtime {
    /// Path of the Rust type.
    pub(crate) path: String,
    /// The types that the definition must list, so that the stand-in stays true.
    pub(crate) stands_for: Vec<JsonType>,
    since: Option<String>,
    until: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shapes {
    shape: Vec<Spanned<ShapeRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ShapeRule {
    at: String,
    r#as: ShapeAs,
    since: Option<String>,
    until: Option<String>,
    #[allow(dead_code, reason = "a rule must say why, for people")]
    reason: String,
}

/// The shape as which a schema is read, independent of its members.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShapeAs {
    /// Opaque JSON object text; any JSON text where the schema takes more than objects.
    Object,
    /// Any opaque JSON text.
    Json,
    /// Names to opaque JSON values; holds only for objects that name no member.
    Map,
    /// Any string, of which these have names; holds only for strings without a list of their own.
    OpenEnum(Vec<String>),
}

impl ShapeAs {
    /// Returns the strings that have names, if any other string is one of its values, too.
    pub(crate) fn named_strings(&self) -> Option<&[String]> {
        match self {
            Self::OpenEnum(known) => Some(known),
            Self::Object | Self::Json | Self::Map => None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Unions {
    union: Vec<Spanned<UnionRule>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct UnionRule {
    at: String,
    decide: Decide,
    since: Option<String>,
    until: Option<String>,
    reason: String,
}

/// The decision of a union that its schema leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Decide {
    /// The method of the request decides; read alone, it is this variant.
    Method {
        /// The variant for values that are read without their method.
        alone: String,
    },
    /// The first row whose members are all present; a row without members takes the rest.
    Present(Vec<PresentRow>),
}

/// A row of [`Decide::Present`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PresentRow {
    /// The variant's definition.
    pub(crate) variant: String,
    /// The path of the member that must be there, joined with `.`; empty for "otherwise".
    #[serde(default)]
    pub(crate) member: String,
}

impl Rules {
    /// Reads the rule files of a spec. Returns an error for a text that is not TOML, or not a rule, with file and line.
    pub fn read(texts: &RuleTexts) -> Result<Self, Error> {
        let mut rules = Self::below(texts, "")?;
        let folder = format!("{FOLDER}/");
        for (path, file) in texts.iter() {
            let own = path
                .strip_prefix(&folder)
                .and_then(|rest| rest.split_once('/'));
            let Some((name, own)) = own else { continue };
            if !OF_EXTENSIONS.contains(&own) && !own.contains("..") {
                let problem = "the folder of an extension has no such file";
                let help = format!(
                    "known: {}, and the rules of conversions; what all schemas share stands in {}/{own}",
                    OF_EXTENSIONS.join(", "),
                    texts.root
                );
                return Err(Error::file(file.path.as_str(), problem, "", help));
            }
            if !rules.extensions.contains_key(name) {
                let of_extension = Self::below(texts, &format!("{folder}{name}/"))?;
                rules.extensions.insert(name.to_owned(), of_extension);
            }
        }
        Ok(rules)
    }

    /// Reads the rule files of one folder, which is named with its `/`; an empty name is the spec directory itself.
    fn below(texts: &RuleTexts, folder: &str) -> Result<Self, Error> {
        let file = |name: &str| texts.get(&format!("{folder}{name}"));
        let rules = Self {
            names: RuleSource::of(file("names.toml"))?,
            shapes: RuleSource::of(file("shapes.toml"))?,
            unions: RuleSource::of(file("unions.toml"))?,
            constructors: RuleSource::of(file(constructors::FILE))?,
            mistakes: RuleSource::of(file(mistakes::FILE))?,
            order: match folder.trim_end_matches('/').strip_prefix(FOLDER) {
                Some(name) => texts
                    .states
                    .get(name.trim_start_matches('/'))
                    .cloned()
                    .unwrap_or_default(),
                None => texts.order.clone(),
            },
            extensions: SortedMap::new(),
        };
        Error::check(rules.unnameable())?;
        Error::check(rules.out_of_range())?;
        Ok(rules)
    }

    /// Returns the rules that hold for the schema of a scope.
    pub(crate) fn of<'r>(&'r self, scope: &'r Scope) -> HeldRules<'r> {
        HeldRules::new(self, scope)
    }

    /// Returns rows whose `since` and `until` are not a range of revisions.
    fn out_of_range(&self) -> Vec<Error> {
        let (names, order) = (&self.names, &self.order);
        let (shapes, unions, constructors) = (&self.shapes, &self.unions, &self.constructors);
        let runtime = names.rules.runtime.iter().flat_map(|(of, row)| {
            faults(&names.file, order, std::slice::from_ref(row), |_| {
                format!("runtime type `{of}`")
            })
        });
        let all = [
            faults(&names.file, order, &names.rules.inline, Inline::label),
            faults(&names.file, order, &names.rules.r#type, TypeName::label),
            faults(&names.file, order, &names.rules.member, MemberName::label),
            faults(&shapes.file, order, &shapes.rules.shape, ShapeRule::label),
            faults(&unions.file, order, &unions.rules.union, UnionRule::label),
            faults(
                &constructors.file,
                order,
                &constructors.rules.value,
                constructors::ValueRule::label,
            ),
        ];
        all.into_iter().flatten().chain(runtime).collect()
    }

    /// Names that Rust does not take.
    fn unnameable(&self) -> Vec<Error> {
        let names = &self.names;
        let constructors = &self.constructors;
        let mut errors = Vec::new();
        let help = "give a name of letters, digits and `_` that does not begin with a digit and is not a keyword";
        let mut check = |file: &RuleFile, (offset, label): (usize, String), name: &str| {
            if !is_identifier(name) {
                let problem = format!("`{name}` is not a name that Rust takes");
                errors.push(file.error(offset, label, problem, "", help));
            }
        };
        let tables = [
            (&names.file, "type", &names.rules.types),
            (&names.file, "member", &names.rules.members),
            (&constructors.file, "word of", &constructors.rules.word),
        ];
        for (file, what, rules) in tables {
            for (of, name) in rules {
                check(file, row(what, of, name), name.get_ref());
            }
        }
        for (of, row) in labelled(&names.rules.r#type, TypeName::label).zip(&names.rules.r#type) {
            check(&names.file, of, &row.get_ref().name);
        }
        for (of, row) in labelled(&names.rules.member, MemberName::label).zip(&names.rules.member) {
            check(&names.file, of, &row.get_ref().name);
        }
        let shapes = &self.shapes;
        errors.extend(shapes.rules.shape.iter().filter_map(|row| {
            let known = row.get_ref().r#as.named_strings()?;
            let names: Vec<String> = known.iter().map(|text| pascal_case(text)).collect();
            let is_taken = |(at, name): (usize, &String)| {
                !is_identifier(name) || *name == OTHER || names[..at].contains(name)
            };
            if !known.is_empty() && !names.iter().enumerate().any(is_taken) {
                return None;
            }
            let problem = format!(
                "{known:?}: expected strings with distinct Rust names, `{OTHER}` not among them"
            );
            let help =
                "list the known strings, each once; one that Rust cannot name is any other string";
            let (at, label) = (row.span().start, row.get_ref().label());
            Some(shapes.file.error(at, label, problem, "", help))
        }));
        errors
    }

    /// Returns the known mistakes of members of some models, in the order of the rules.
    pub(crate) fn mistakes(&self, models: &[&Model]) -> Vec<ModelMistake> {
        let rules = self.mistakes.rules.mistake.iter().filter_map(|rule| {
            let mistakes = rule.get_ref().mistakes(models)?;
            self.mistakes.mark(rule);
            Some(mistakes)
        });
        rules.flatten().collect()
    }

    /// Rules that no revision needed, each an error with its file and line.
    pub fn unused(&self) -> Vec<Error> {
        let (names, constructors) = (&self.names, &self.constructors);
        let inline = labelled(&names.rules.inline, Inline::label);
        let shape = labelled(&self.shapes.rules.shape, ShapeRule::label);
        let union = labelled(&self.unions.rules.union, UnionRule::label);
        let all = [
            names.unused(NO_USE, rows("type", &names.rules.types)),
            names.unused(NO_USE, inline),
            names.unused(NO_USE, rows("runtime type", &names.rules.runtime)),
            names.unused(NO_USE, rows("member", &names.rules.members)),
            names.unused(NO_USE, labelled(&names.rules.r#type, TypeName::label)),
            names.unused(NO_USE, labelled(&names.rules.member, MemberName::label)),
            self.shapes.unused(NO_USE, shape),
            self.unions.unused(NO_USE, union),
            constructors.unused(NO_USE, constructors.rules.all()),
            self.mistakes.unused(NO_USE, self.mistakes.rules.all()),
        ];
        let own = self.extensions.values().flat_map(Self::unused);
        all.into_iter().flatten().chain(own).collect()
    }
}

macro_rules! labelled {
    ($($row:ty, $of:ident: $what:literal);* $(;)?) => {$(
        impl $row {
            /// Returns the name of the row in errors.
            fn label(&self) -> String {
                format!(concat!($what, " `{}`"), self.$of)
            }
        }
    )*};
}

labelled! {
    Inline, at: "inline schema";
    TypeName, definition: "type";
    MemberName, at: "member";
    ShapeRule, at: "shape";
    UnionRule, at: "union";
    constructors::ValueRule, at: "value of";
}

/// Returns the rows of a list whose range is none, each an error with its line.
fn faults<T: Ranged>(
    file: &RuleFile,
    order: &Order,
    rows: &[Spanned<T>],
    label: impl Fn(&T) -> String,
) -> Vec<Error> {
    let fault = |row: &Spanned<T>| {
        let problem = match row.get_ref().range() {
            [Some(since), until] => order.range(since, until).err()?,
            [None, Some(_)] => "`until` is the end of a range that begins with `since`".to_owned(),
            [None, None] => return None,
        };
        Some(file.error(row.span().start, label(row.get_ref()), problem, "", ""))
    };
    rows.iter().filter_map(fault).collect()
}

/// The reasons for which no revision needs a rule.
const NO_USE: [&str; 3] = [
    "it matches nothing in any revision",
    "a rule that is of no use hides that the schema changed",
    "remove the rule, or mend what it names",
];

/// Returns the offset of a rule, and its name in errors.
fn row<T>(what: &str, at: &str, rule: &Spanned<T>) -> (usize, String) {
    (rule.span().start, format!("{what} `{at}`"))
}

/// Returns the rows of rules that stand under the places that they are of.
fn rows<T>(
    what: &str,
    rules: &SortedMap<String, Spanned<T>>,
) -> impl Iterator<Item = (usize, String)> {
    (rules.iter()).map(move |(at, rule)| row(what, at, rule))
}

/// Returns the rows of a list, with what each is called in errors.
fn labelled<T>(
    rows: &[Spanned<T>],
    label: impl Fn(&T) -> String,
) -> impl Iterator<Item = (usize, String)> {
    (rows.iter()).map(move |row| (row.span().start, label(row.get_ref())))
}
