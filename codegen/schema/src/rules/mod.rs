//! Decisions about the Rust side that are data: names, opaque values, unions.
//!
//! Every rule must be of use: [`Rules::unused`] reports those that no revision needed, with file and line.

mod constructors;
mod mistakes;
mod pattern;
pub(crate) mod source;

use crate::sorted::SortedMap;

use serde::Deserialize;
use toml::Spanned;

use crate::Error;
use crate::model::Model;
use crate::naming::is_identifier;
use crate::schema::JsonType;
use crate::spec::rules::RuleTexts;
use constructors::Constructors;
pub use constructors::Start;
use mistakes::MistakeRules;
pub use mistakes::{Mistake, MistakeFate};
pub use pattern::matches;
use source::Source;

/// The rules of `names.toml`, `shapes.toml`, `unions.toml`, `constructors.toml` and `mistakes.toml`.
#[derive(Debug, Default)]
pub struct Rules {
    names: Source<Names>,
    shapes: Source<Shapes>,
    unions: Source<Unions>,
    constructors: Source<Constructors>,
    mistakes: Source<MistakeRules>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Names {
    /// Definition to Rust type.
    types: SortedMap<String, Spanned<String>>,
    /// Inline schema to type name.
    inline: Vec<Spanned<Inline>>,
    /// Definition to a type of a hand-written crate.
    runtime: SortedMap<String, Spanned<Runtime>>,
    /// Wire name, or `Type.wire name`, to field name.
    members: SortedMap<String, Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inline {
    at: String,
    name: String,
}

/// A type of a hand-written crate that stands for a definition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Runtime {
    /// Path of the Rust type.
    pub(crate) path: String,
    /// The types that the definition must list, so that the stand-in stays true.
    pub(crate) stands_for: Vec<JsonType>,
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
    #[allow(dead_code, reason = "a rule must say why, for people")]
    reason: String,
}

/// The shape as which a schema is read, independent of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShapeAs {
    /// Opaque JSON object text; any JSON text where the schema takes more than objects.
    Object,
    /// Any opaque JSON text.
    Json,
    /// Names to opaque JSON values; holds only for objects that name no member.
    Map,
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
    reason: String,
}

/// How a union is decided that its schema leaves open.
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
    /// Reads the rule files of a spec.
    ///
    /// # Errors
    /// What is not TOML, or not a rule, with file and line.
    pub fn read(texts: &RuleTexts) -> Result<Self, Error> {
        let rules = Self {
            names: Source::of(texts.get("names.toml"))?,
            shapes: Source::of(texts.get("shapes.toml"))?,
            unions: Source::of(texts.get("unions.toml"))?,
            constructors: Source::of(texts.get(constructors::FILE))?,
            mistakes: Source::of(texts.get(mistakes::FILE))?,
        };
        Error::check(rules.unnameable())?;
        Ok(rules)
    }

    /// Names that Rust does not take.
    fn unnameable(&self) -> Vec<Error> {
        let names = &self.names;
        let constructors = &self.constructors;
        let all = [
            (&names.file, "type", &names.rules.types),
            (&names.file, "member", &names.rules.members),
            (&constructors.file, "word of", &constructors.rules.word),
        ];
        let mut errors = Vec::new();
        let help = "give a name of letters, digits and `_` that does not begin with a digit and is not a keyword";
        for (file, what, rules) in all {
            let odd = rules
                .iter()
                .filter(|(_, name)| !is_identifier(name.get_ref()));
            errors.extend(odd.map(|(of, name)| {
                let problem = format!("`{}` is not a name that Rust takes", name.get_ref());
                file.error(
                    name.span().start,
                    format!("{what} `{of}`"),
                    problem,
                    "",
                    help,
                )
            }));
        }
        errors
    }

    /// The Rust name of a definition, where a rule gives one.
    pub(crate) fn type_name(&self, definition: &str) -> Option<&str> {
        let rule = self.names.rules.types.get(definition)?;
        Some(self.names.mark(rule).as_str())
    }

    /// The definition-like names of an inline schema, where rules give any: the next one where the one before is that
    /// of something else in a revision. The first is of use; [`Rules::uses_inline`] says that a later one is.
    pub(crate) fn inline_names(&self, place: &str) -> Vec<&str> {
        let rules = self.names.rules.inline.iter();
        let rules = rules.filter(|rule| matches(&rule.get_ref().at, place));
        rules.map(|rule| rule.get_ref().name.as_str()).collect()
    }

    /// A name for an inline schema was needed.
    pub(crate) fn uses_inline(&self, place: &str, name: &str) {
        let mut rules = self.names.rules.inline.iter();
        let rule = rules.find(|rule| {
            let Inline { at, name: given } = rule.get_ref();
            given == name && matches(at, place)
        });
        rule.map(|rule| self.names.mark(rule));
    }

    /// The hand-written type that stands for a definition.
    pub(crate) fn runtime(&self, definition: &str) -> Option<&Runtime> {
        let rule = self.names.rules.runtime.get(definition)?;
        Some(self.names.mark(rule))
    }

    /// The field name of a member, where a rule gives one.
    pub(crate) fn field_name(&self, doc_key: &str, wire: &str) -> Option<&str> {
        let members = &self.names.rules.members;
        let rule = members
            .get(&format!("{doc_key}.{wire}"))
            .or_else(|| members.get(wire))?;
        Some(self.names.mark(rule).as_str())
    }

    /// What the schema at this place is read as, where a rule says so; `bare` is an object that names no member.
    pub(crate) fn shape(&self, place: &str, bare: bool) -> Option<ShapeAs> {
        let rule = find(&self.shapes.rules.shape, place, |rule| &rule.at)?;
        if rule.get_ref().r#as == ShapeAs::Map && !bare {
            return None;
        }
        Some(self.shapes.mark(rule).r#as)
    }

    /// How the union at this place is decided, where a rule says so.
    pub(crate) fn decide(&self, place: &str) -> Option<&Decide> {
        let rule = find(&self.unions.rules.union, place, |rule| &rule.at)?;
        Some(&self.unions.mark(rule).decide)
    }

    /// Where a member stands among those that a constructor takes; `decides` says that it takes others, too.
    pub(crate) fn rank(&self, wire: &str, decides: bool) -> usize {
        let order = &self.constructors.rules.order;
        let Some((rank, name)) =
            (order.iter().enumerate()).find(|(_, name)| name.get_ref() == wire)
        else {
            return order.len();
        };
        if decides {
            self.constructors.mark(name);
        }
        rank
    }

    /// The word for a text that stands beside another one.
    pub(crate) fn word(&self, wire: &str) -> Option<&str> {
        let word = self.constructors.rules.word.get(wire)?;
        Some(self.constructors.mark(word).as_str())
    }

    /// What a member that must be there starts from, where a rule has a value that fits.
    pub(crate) fn start(&self, place: &str, fits: impl Fn(&Start) -> bool) -> Option<Start> {
        let rules = &self.constructors.rules.value;
        let rule = find(rules, place, |rule| &rule.at)?;
        fits(&rule.get_ref().start).then(|| self.constructors.mark(rule).start.clone())
    }

    /// What stands for mistakes in members of some models, in the order of the rules.
    pub(crate) fn mistakes(&self, models: &[&Model]) -> Vec<Mistake> {
        let rules = self.mistakes.rules.mistake.iter();
        let rules = rules.filter_map(|rule| {
            let mistake = rule.get_ref().mistake(models)?;
            self.mistakes.mark(rule);
            Some(mistake)
        });
        rules.collect()
    }

    /// What is wrong with the rule of a union, if there is one.
    pub(crate) fn union_error(&self, place: &str, problem: &str) -> Option<Error> {
        let rule = find(&self.unions.rules.union, place, |rule| &rule.at)?;
        let UnionRule { at, reason, .. } = rule.get_ref();
        let (offset, of) = (rule.span().start, format!("union `{at}`"));
        let help = "mend the rule: one row for each variant, with a member that the variant has";
        Some((self.unions.file).error(offset, of, problem, reason.as_str(), help))
    }

    /// What is wrong with the rule of a hand-written type.
    pub(crate) fn runtime_error(&self, definition: &str, problem: &str) -> Error {
        let rule = self.names.rules.runtime.get(definition);
        let offset = rule.map_or(0, |rule| rule.span().start);
        let of = format!("runtime type `{definition}`");
        let reason =
            "a hand-written type that says something else than the schema loses wire facts";
        let help = "remove the rule, or teach the hand-written type";
        self.names.file.error(offset, of, problem, reason, help)
    }

    /// Rules that no revision needed, each an error with its file and line.
    #[must_use]
    pub fn unused(&self) -> Vec<Error> {
        let (names, constructors) = (&self.names, &self.constructors);
        let inline = placed("inline schema", &names.rules.inline, |rule| &rule.at);
        let shape = placed("shape", &self.shapes.rules.shape, |rule| &rule.at);
        let union = placed("union", &self.unions.rules.union, |rule| &rule.at);
        let all = [
            names.unused(NO_USE, rows("type", &names.rules.types)),
            names.unused(NO_USE, inline),
            names.unused(NO_USE, rows("runtime type", &names.rules.runtime)),
            names.unused(NO_USE, rows("member", &names.rules.members)),
            self.shapes.unused(NO_USE, shape),
            self.unions.unused(NO_USE, union),
            constructors.unused(NO_USE, constructors.rules.all()),
            self.mistakes.unused(NO_USE, self.mistakes.rules.all()),
        ];
        all.into_iter().flatten().collect()
    }
}

/// What is wrong with a rule that no revision needed.
const NO_USE: [&str; 3] = [
    "it matches nothing in any revision",
    "a rule that is of no use hides that the schema changed",
    "remove the rule, or mend what it names",
];

/// Where a rule stands, and what it is called in errors.
fn row<T>(what: &str, at: &str, rule: &Spanned<T>) -> (usize, String) {
    (rule.span().start, format!("{what} `{at}`"))
}

/// The rows of rules that stand under the places that they are of.
fn rows<T>(
    what: &str,
    rules: &SortedMap<String, Spanned<T>>,
) -> impl Iterator<Item = (usize, String)> {
    (rules.iter()).map(move |(at, rule)| row(what, at, rule))
}

/// The rows of rules that name the places that they are of.
fn placed<T>(
    what: &str,
    rules: &[Spanned<T>],
    at: fn(&T) -> &String,
) -> impl Iterator<Item = (usize, String)> {
    (rules.iter()).map(move |rule| row(what, at(rule.get_ref()), rule))
}

/// The first rule whose pattern meets the place.
fn find<'r, T>(
    rules: &'r [Spanned<T>],
    place: &str,
    at: impl Fn(&T) -> &str,
) -> Option<&'r Spanned<T>> {
    rules.iter().find(|rule| matches(at(rule.get_ref()), place))
}
