//! The rules that hold for one schema: of its revision by their ranges, and before them those of its extension.

use toml::Spanned;

use super::source::RuleSource;
use super::{
    Decide, InitialValue, Inline, Ranged, Rules, Runtime, ShapeAs, UnionRule, Unions, matches,
};
use crate::Error;
use crate::decision::Scope;
use crate::spec::range::Order;

/// The rules of one schema. Of several rows for a place, one with a range goes before one without, then the first in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldRules<'r> {
    /// Those of the extension, if the schema is one.
    own: Option<&'r Rules>,
    shared: &'r Rules,
    /// The revision.
    of: Option<&'r str>,
    /// The state of the extension.
    state: Option<&'r str>,
}

impl<'r> HeldRules<'r> {
    /// Returns the rules of a scope. A schema without a revision is read like the last revision of the list.
    pub(super) fn new(shared: &'r Rules, scope: &'r Scope) -> Self {
        let (own, of, state) = match scope {
            Scope::Revision(id) => (None, Some(id.as_str()), None),
            Scope::Extension {
                name,
                revision,
                state,
                ..
            } => (
                shared.extensions.get(name),
                Some(revision.as_str()),
                Some(state.as_str()),
            ),
            Scope::Schema(_) | Scope::Pair(_) => (None, shared.order.last(), None),
        };
        Self {
            own,
            shared,
            of,
            state,
        }
    }

    /// Returns the order of all revisions.
    pub(crate) fn order(&self) -> &'r Order {
        &self.shared.order
    }

    /// Returns the rules in the order in which they are asked.
    fn layers(&self) -> impl Iterator<Item = &'r Rules> + use<'r> {
        self.own.into_iter().chain([self.shared])
    }

    /// Returns whether a row of some rules holds: for the state by the rules of its extension, else for the revision.
    fn holds(&self, rules: &Rules, row: &impl Ranged) -> bool {
        let [since, until] = row.range();
        let of = match self.own {
            Some(own) if std::ptr::eq(own, rules) => self.state,
            _ => self.of,
        };
        since.is_none_or(|since| of.is_some_and(|of| rules.order.holds(since, until, of)))
    }

    /// Returns the rows of a list that hold and are of a place, those with a range first.
    fn rows<'l, T: Ranged>(
        &self,
        rules: &Rules,
        rows: &'l [Spanned<T>],
        is_of: impl Fn(&T) -> bool,
    ) -> Vec<&'l Spanned<T>> {
        let held = rows
            .iter()
            .filter(|row| self.holds(rules, row.get_ref()) && is_of(row.get_ref()));
        let (ranged, always): (Vec<_>, Vec<_>) =
            held.partition(|row| row.get_ref().range() != [None, None]);
        [ranged, always].concat()
    }

    /// Returns the first of them.
    fn row<'l, T: Ranged>(
        &self,
        rules: &Rules,
        rows: &'l [Spanned<T>],
        is_of: impl Fn(&T) -> bool,
    ) -> Option<&'l Spanned<T>> {
        self.rows(rules, rows, is_of).into_iter().next()
    }

    /// Returns the first of them in all rules, with its file.
    fn first<S: 'r, T: Ranged + 'r>(
        &self,
        of: impl Fn(&'r Rules) -> (&'r RuleSource<S>, &'r [Spanned<T>]),
        is_of: impl Fn(&T) -> bool,
    ) -> Option<(&'r RuleSource<S>, &'r Spanned<T>)> {
        self.layers().find_map(|rules| {
            let (source, rows) = of(rules);
            Some((source, self.row(rules, rows, &is_of)?))
        })
    }

    /// Returns the Rust name of a definition, where a rule gives one.
    pub(crate) fn type_name(&self, definition: &str) -> Option<&'r str> {
        self.layers().find_map(|rules| {
            let names = &rules.names;
            if let Some(row) = self.row(rules, &names.rules.r#type, |row| {
                row.definition == definition
            }) {
                return Some(names.mark(row).name.as_str());
            }
            let rule = names.rules.types.get(definition)?;
            Some(names.mark(rule).as_str())
        })
    }

    /// Returns the definition-like names of an inline schema, where rules give any: the next one where the one before is
    /// that of something else in a revision. The first is of use; [`HeldRules::uses_inline`] says that a later one is.
    pub(crate) fn inline_names(&self, place: &str) -> Vec<&'r str> {
        let named = self.layers().flat_map(|rules| {
            let names = &rules.names;
            self.rows(rules, &names.rules.inline, |row| matches(&row.at, place))
        });
        named.map(|row| row.get_ref().name.as_str()).collect()
    }

    /// Marks the rule that names an inline schema as needed.
    pub(crate) fn uses_inline(&self, place: &str, name: &str) {
        let is_it = |row: &Inline| row.name == name && matches(&row.at, place);
        if let Some((names, row)) =
            self.first(|rules| (&rules.names, &rules.names.rules.inline[..]), is_it)
        {
            names.mark(row);
        }
    }

    /// Returns the hand-written type that stands for a definition.
    pub(crate) fn runtime(&self, definition: &str) -> Option<&'r Runtime> {
        self.layers().find_map(|rules| {
            let names = &rules.names;
            let row = names.rules.runtime.get(definition)?;
            self.holds(rules, row.get_ref()).then(|| names.mark(row))
        })
    }

    /// Returns the field name of a member, where a rule gives one.
    pub(crate) fn field_name(&self, doc_key: &str, wire: &str) -> Option<&'r str> {
        let whole = format!("{doc_key}.{wire}");
        self.layers().find_map(|rules| {
            let names = &rules.names;
            let row = self
                .row(rules, &names.rules.member, |row| row.at == whole)
                .or_else(|| self.row(rules, &names.rules.member, |row| row.at == wire));
            if let Some(row) = row {
                return Some(names.mark(row).name.as_str());
            }
            let members = &names.rules.members;
            let line = members.get(&whole).or_else(|| members.get(wire))?;
            Some(names.mark(line).as_str())
        })
    }

    /// Returns the shape as which the schema at this place is read, where a rule names one that fits it.
    pub(crate) fn shape(
        &self,
        place: &str,
        fits: impl Fn(&ShapeAs) -> bool,
    ) -> Option<&'r ShapeAs> {
        let (shapes, row) = self.first(
            |rules| (&rules.shapes, &rules.shapes.rules.shape[..]),
            |row| matches(&row.at, place),
        )?;
        fits(&row.get_ref().r#as).then(|| &shapes.mark(row).r#as)
    }

    /// Returns the row about the union at this place, with its file.
    fn union_row(&self, place: &str) -> Option<(&'r RuleSource<Unions>, &'r Spanned<UnionRule>)> {
        self.first(
            |rules| (&rules.unions, &rules.unions.rules.union[..]),
            |row| matches(&row.at, place),
        )
    }

    /// Returns the decision of a rule about the union at this place.
    pub(crate) fn decide(&self, place: &str) -> Option<&'r Decide> {
        let (unions, row) = self.union_row(place)?;
        Some(&unions.mark(row).decide)
    }

    /// Returns the place of a member among those that a constructor takes; `decides` says that it takes others, too.
    pub(crate) fn rank(&self, wire: &str, decides: bool) -> usize {
        let mut before = 0;
        for Rules { constructors, .. } in self.layers() {
            let order = &constructors.rules.order;
            let mut ranked = order.iter().enumerate();
            if let Some((rank, name)) = ranked.find(|(_, name)| name.get_ref() == wire) {
                if decides {
                    constructors.mark(name);
                }
                return before + rank;
            }
            before += order.len();
        }
        before
    }

    /// Returns the word for a text that stands beside another one.
    pub(crate) fn word(&self, wire: &str) -> Option<&'r str> {
        self.layers().find_map(|rules| {
            let word = rules.constructors.rules.word.get(wire)?;
            Some(rules.constructors.mark(word).as_str())
        })
    }

    /// Returns the initial value of a required member, if a rule has one that fits.
    pub(crate) fn start(
        &self,
        place: &str,
        fits: impl Fn(&InitialValue) -> bool,
    ) -> Option<InitialValue> {
        let (constructors, row) = self.first(
            |rules| (&rules.constructors, &rules.constructors.rules.value[..]),
            |row| matches(&row.at, place),
        )?;
        fits(&row.get_ref().start).then(|| constructors.mark(row).start.clone())
    }

    /// Returns the error of the rule of a union, if there is one.
    pub(crate) fn union_error(&self, place: &str, problem: &str) -> Option<Error> {
        let (unions, row) = self.union_row(place)?;
        let UnionRule { at, reason, .. } = row.get_ref();
        let (offset, of) = (row.span().start, format!("union `{at}`"));
        let help = "mend the rule: one row for each variant, with a member that the variant has";
        Some((unions.file).error(offset, of, problem, reason.as_str(), help))
    }

    /// Returns the error of the rule of a hand-written type.
    pub(crate) fn runtime_error(&self, definition: &str, problem: &str) -> Error {
        let has = |rules: &&Rules| rules.names.rules.runtime.contains_key(definition);
        let Rules { names, .. } = self.layers().find(has).unwrap_or(self.shared);
        let row = names.rules.runtime.get(definition);
        let offset = row.map_or(0, |row| row.span().start);
        let of = format!("runtime type `{definition}`");
        let reason =
            "a hand-written type that says something else than the schema loses wire facts";
        let help = "end the rule before this revision with `since` and `until`, remove it, or teach the hand-written type";
        names.file.error(offset, of, problem, reason, help)
    }
}
