//! Doc lines in our own words, from `spec/docs.toml`.
//!
//! A section is named after a definition, or after the name of an inline schema before renames.
//! A doc line that is the same in every type stands once, under `[everywhere]`; one that differs from a
//! revision on stands under `[Type.since."ID"]`, up to `until` where that is given.

use crate::sorted::{SortedMap, SortedSet};

use serde::Deserialize;
use toml::Spanned;

use crate::model::{Model, Shape, TypeDef};
use crate::rules::source::RuleSource;
use crate::spec::DOCS;
use crate::spec::range::Order;
use crate::spec::rules::{RuleFile, RuleTexts};
use crate::{Error, Markdown};

/// The section of lines that hold in every type.
const EVERYWHERE: &str = "everywhere";

/// All doc lines.
#[derive(Debug, Default)]
pub struct Docs(RuleSource<SortedMap<String, DocSection>>);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocSection {
    doc: Option<Spanned<String>>,
    /// The section that has the lines of members that this type takes over.
    like: Option<Spanned<String>>,
    #[serde(default)]
    members: SortedMap<String, Spanned<String>>,
    #[serde(default)]
    since: SortedMap<Spanned<String>, Override>,
}

/// Lines that hold for a range of revisions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Override {
    until: Option<String>,
    /// The revisions, oldest first.
    #[serde(skip)]
    revisions: Vec<String>,
    doc: Option<Spanned<String>>,
    #[serde(default)]
    members: SortedMap<String, Spanned<String>>,
}

impl DocSection {
    /// Returns whether lines hold for a revision by a range.
    fn holds_by_range(&self, revision: &str) -> bool {
        let mut ranges = self.since.values();
        ranges.any(|lines| lines.revisions.iter().any(|id| id == revision))
    }

    /// Returns a line that holds for a revision by a range: of several, that of the range which begins last.
    fn latest<'s>(
        &'s self,
        revision: &str,
        pick: impl Fn(&'s Override) -> Option<&'s Spanned<String>>,
    ) -> Option<&'s Spanned<String>> {
        let lines = self.since.values().filter_map(|lines| {
            let at = lines.revisions.iter().position(|id| id == revision)?;
            Some((at, pick(lines)?))
        });
        lines.min_by_key(|(at, _)| *at).map(|(_, line)| line)
    }
}

impl Docs {
    /// Reads `docs.toml`. Returns an error for a text that is not TOML, or no doc line, with its line.
    pub fn read(texts: &RuleTexts) -> Result<Self, Error> {
        Self::from_file(texts.get(DOCS), &texts.order)
    }

    /// Reads the lines of a file, with ranges in an order of revisions. Returns an error for a text that is not TOML, or no doc
    /// line, with its line.
    pub(crate) fn from_file(file: RuleFile, order: &Order) -> Result<Self, Error> {
        let mut source: RuleSource<SortedMap<String, DocSection>> = RuleSource::of(file)?;
        let mut errors = Vec::new();
        for (name, section) in source.rules.iter_mut() {
            for (since, lines) in section.since.iter_mut() {
                let (offset, since) = (since.span().start, since.get_ref());
                let range = order.range(since, lines.until.as_deref());
                let is_empty = lines.doc.is_none() && lines.members.is_empty();
                match range.and_then(|range| {
                    if is_empty {
                        Err("it has no line".to_owned())
                    } else {
                        Ok(range)
                    }
                }) {
                    Ok(range) => lines.revisions = range,
                    Err(problem) => {
                        let of = format!("doc lines of `{name}` since {since}");
                        errors.push(source.file.error(offset, of, problem, "", ""));
                    }
                }
            }
        }
        Error::check(errors)?;
        Ok(Self(source))
    }

    /// Marks a line as used, and returns its text. Returns `None` for an empty one, which is a stub.
    fn written<'d>(&self, line: Option<&'d Spanned<String>>) -> Option<&'d str> {
        let line = self.0.mark(line?).as_str();
        Some(line).filter(|line| !line.trim().is_empty())
    }

    fn type_line(&self, revision: &str, key: &str) -> Option<&str> {
        let section = self.0.rules.get(key)?;
        self.written(section.latest(revision, |lines| lines.doc.as_ref()))
            .or_else(|| self.written(section.doc.as_ref()))
    }

    fn member_line(&self, revision: &str, key: &str, wire: &str) -> Option<&str> {
        let section = self.0.rules.get(key);
        let of = |key: &str| self.written(self.0.rules.get(key)?.members.get(wire));
        self.written(section.and_then(|it| it.latest(revision, |lines| lines.members.get(wire))))
            .or_else(|| of(key))
            .or_else(|| {
                let like = section?.like.as_ref()?;
                let line = of(like.get_ref())?;
                self.0.mark(like);
                Some(line)
            })
            .or_else(|| of(EVERYWHERE))
    }

    /// Lines that no revision used, each an error with its line.
    pub fn unused(&self) -> Vec<Error> {
        let mut all = Vec::new();
        for (name, section) in &self.0.rules {
            let own = [(String::new(), &section.doc, &section.members)];
            let since = section.since.iter().map(|(since, lines)| {
                let since = format!(" since {}", since.get_ref());
                (since, &lines.doc, &lines.members)
            });
            for (since, doc, members) in own.into_iter().chain(since) {
                let doc_lines = doc.iter().map(|line| (line, name.clone()));
                let member_lines = members
                    .iter()
                    .map(|(wire, line)| (line, format!("{name}.{wire}")));
                for (line, of) in doc_lines.chain(member_lines) {
                    all.push((line.span().start, format!("doc line of `{of}`{since}")));
                }
            }
            let like = section.like.iter();
            all.extend(like.map(|like| (like.span().start, format!("`like` of `{name}`"))));
        }
        self.0.unused(NO_USE, all)
    }
}

/// The reasons for which no revision uses a line.
const NO_USE: [&str; 3] = [
    "no revision has use for it",
    "a line about nothing hides that the schema changed",
    "remove the line, or mend its section or member name",
];

/// The doc lines of one revision, with what to fall back on.
#[derive(Debug)]
pub struct TypeDocs<'d> {
    /// The lines.
    pub docs: &'d Docs,
    /// The lines of an extension, which stand before those, and the id of its state.
    pub own: Option<(&'d Docs, &'d str)>,
    /// The revision's id.
    pub revision: &'d str,
    /// The URL of a definition's reference page, with `{anchor}` for its name in lower case.
    pub reference: &'d str,
    /// The lines of extensions whose definitions the revision has exactly alike, used where no line holds for it by a range.
    pub lent: Vec<LentDocs<'d>>,
    /// Prose of the schema itself, by `Type` or `Type.member`; used where `docs` is silent.
    pub prose: &'d SortedMap<String, Markdown>,
}

/// The lines of a state of an extension, for definitions that a revision has exactly alike.
#[derive(Debug)]
pub struct LentDocs<'d> {
    /// The lines.
    pub docs: &'d Docs,
    /// The id of the state.
    pub state: &'d str,
    /// The sections that are lent.
    pub sections: SortedSet<&'d str>,
}

/// No schema has prose where it is kept in canonical form.
static NO_PROSE: SortedMap<String, Markdown> = SortedMap::new();

impl<'d> TypeDocs<'d> {
    /// Returns the lines of a revision, without links to its pages.
    pub fn new(docs: &'d Docs, revision: &'d str) -> Self {
        Self {
            docs,
            own: None,
            revision,
            reference: "",
            lent: Vec::new(),
            prose: &NO_PROSE,
        }
    }

    /// Returns types that have no line, and members that have none with their types.
    pub fn missing(&self, model: &Model) -> Vec<(String, Option<String>)> {
        let mut missing = Vec::new();
        for def in model.types.values() {
            let key = &def.doc_key;
            if self.type_line(key).is_none() {
                missing.push((key.clone(), None));
            }
            if let Shape::Object(object) = &def.shape {
                let wires = object.members.iter().map(|member| &member.wire);
                let undocumented = wires.filter(|wire| self.member_line(key, wire).is_none());
                missing.extend(undocumented.map(|wire| (key.clone(), Some(wire.clone()))));
            }
        }
        missing
    }

    /// Returns the lines to look at for a section, in this order: those that are lent stand before the lines of other revisions
    /// and of all types, and after lines that hold for the revision by a range.
    fn layers(&self, key: &str) -> impl Iterator<Item = (&'d Docs, &'d str)> {
        let section = self.docs.0.rules.get(key);
        let has_range = section.is_some_and(|section| section.holds_by_range(self.revision));
        let lends = |of: &&LentDocs<'_>| !has_range && of.sections.contains(key);
        let lent: Vec<_> = (self.lent.iter().filter(lends))
            .map(|of| (of.docs, of.state))
            .collect();
        let own = self.own.into_iter();
        own.chain(lent).chain([(self.docs, self.revision)])
    }

    fn type_line(&self, key: &str) -> Option<&'d str> {
        self.layers(key)
            .find_map(|(docs, of)| docs.type_line(of, key))
    }

    fn member_line(&self, key: &str, wire: &str) -> Option<&'d str> {
        self.layers(key)
            .find_map(|(docs, of)| docs.member_line(of, key, wire))
    }

    /// Returns the paragraph that leads to a definition's reference page, with the blank line before it; `None` for an inline
    /// schema, or where there are no pages.
    pub fn reference(&self, def: &TypeDef) -> Option<Markdown> {
        let definition = def.definition.as_ref()?;
        (!self.reference.is_empty()).then(|| Markdown::reference(self.reference, definition))
    }

    /// Returns the line of a type, with the link to its page.
    pub fn ty(&self, def: &TypeDef) -> Markdown {
        let key = &def.doc_key;
        let line = match (self.type_line(key), self.prose.get(key)) {
            (Some(line), _) => Markdown::of_spec(line),
            (None, Some(prose)) => prose.clone(),
            (None, None) => Markdown::code(key).then(", which has no doc line yet."),
        };
        match self.reference(def) {
            Some(reference) => line.then("\n").then(reference),
            None => line,
        }
    }

    /// Returns the line of a member of a type.
    pub fn member(&self, def: &TypeDef, wire: &str) -> Markdown {
        let key = &def.doc_key;
        match self.member_line(key, wire) {
            Some(line) => Markdown::of_spec(line),
            None => (self.prose.get(&format!("{key}.{wire}")).cloned())
                .unwrap_or_else(|| "No doc line yet.".into()),
        }
    }
}
