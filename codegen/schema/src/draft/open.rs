//! Open questions of a schema on its way to a draft, and the answers that lose nothing.

use crate::Error;
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::naming::rule_id;
use crate::pointer::unescaped;
use crate::schema::{KNOWN, Schema, Unsupported, is_of_vendor};
use crate::sorted::{SortedMap, SortedSet};
use crate::spec::ERRATA;
use crate::spec::extensions::{Dangling, FOLDER};
use crate::spec::toml_text::{self, quoted};

impl Unsupported {
    /// Returns the error of a schema that has no such answer; `file` is the schema.
    pub fn refused(&self, file: &str) -> Error {
        let (at, help) = (&self.pointer, "mend it with an erratum");
        Error::schema(file, at, &self.expected, &self.found, help)
    }

    /// It is read as opaque JSON instead.
    pub(super) fn opaque(self, scope: &Scope, place: &str) -> Decision {
        let open = format!("expected {}, found {}", self.expected, self.found);
        let answer = format!("`{place}` is any JSON, kept as text");
        let settle = opaque_rule(scope, place, "json");
        scope.asks(QuestionKind::Shape, self.pointer, open, answer, settle)
    }
}

/// Returns the rule by which a place is read as opaque JSON: `json`, or `object`.
pub(crate) fn opaque_rule(scope: &Scope, place: &str, word: &str) -> Settle {
    let (place, since) = (quoted(place), since(scope));
    let row = format!("[[shape]]\nat = {place}\nas = \"{word}\"\n{since}reason = \"\"\n");
    Settle::of(file_of(scope, "shapes.toml"), row)
}

/// Returns the rule by which a definition has another name in Rust.
pub(crate) fn type_rule(scope: &Scope, definition: &str, name: &str) -> Settle {
    let (definition, since) = (quoted(definition), since(scope));
    let row = format!("[[type]]\ndefinition = {definition}\nname = \"{name}\"\n{since}");
    Settle::of(file_of(scope, "names.toml"), row)
}

/// Lists unknown keywords: each has no effect, by the rules of JSON Schema. Those of a vendor are one question.
pub(super) fn unknown(schema: &Schema, scope: &Scope) -> Vec<Decision> {
    let name = |pointer: &str| {
        let last = pointer.rsplit('/').next().unwrap_or_default();
        unescaped(last).into_owned()
    };
    let teach = "# or teach codegen/schema/src/schema/parse.rs what it means\n";
    let asks = |pointer: &str, found: String, what: &str, mut settle: Settle| {
        settle.stub.insert_str(0, teach);
        let open = format!("expected {KNOWN}, found {found}");
        let answer = format!("{what} says nothing of what is valid");
        scope.asks(
            QuestionKind::Shape,
            pointer.to_owned(),
            open,
            answer,
            settle,
        )
    };
    let mut decisions = Vec::new();
    let mut of_vendors: SortedMap<(String, String), Vec<&str>> = SortedMap::new();
    for (pointer, value) in &schema.unknown {
        let keyword = name(pointer);
        if is_of_vendor(&keyword) {
            let same = of_vendors.entry((keyword, value.to_string())).or_default();
            same.push(pointer);
            continue;
        }
        let settle = erratum(scope, &[pointer], Some(&value.to_string()), "remove = true");
        let (found, what) = (format!("the keyword `{keyword}`"), format!("`{keyword}`"));
        decisions.push(asks(pointer, found, &what, settle));
    }
    let all = of_vendors.values().flatten();
    if let Some(first) = all.clone().min() {
        let names: SortedSet<&str> = of_vendors.keys().map(|(name, _)| name.as_str()).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let found = format!(
            "keywords of a vendor at {} places: {}",
            all.count(),
            quoted.join(", ")
        );
        let rows = of_vendors
            .iter()
            .map(|((_, value), places)| erratum(scope, places, Some(value), "remove = true").stub);
        let settle = Settle::of(errata_file(scope), rows.collect::<Vec<_>>().join("\n"));
        decisions.push(asks(first, found, "each of them", settle));
    }
    decisions
}

/// Returns a name that is taken: the one that was given instead, and the row of `names.toml` that says another.
pub(super) fn renamed(
    scope: &Scope,
    pointer: &str,
    taken: &str,
    why: &str,
    given: &str,
    settle: Settle,
) -> Decision {
    let (open, answer) = (
        format!("`{taken}` {why}"),
        format!("it is called `{given}`"),
    );
    scope.asks(QuestionKind::Name, pointer.to_owned(), open, answer, settle)
}

/// Returns the erratum of a reference to nothing: it adds the definition, where the schema has it elsewhere, or takes the
/// references out.
pub(crate) fn missing_definition(scope: &Scope, dangling: &Dangling) -> Settle {
    if let (Some(at), Some(inner)) = (dangling.definition(), &dangling.inner) {
        return erratum(
            scope,
            &[&at],
            None,
            &format!("replace-json = {}", toml_text::json(&inner.to_string())),
        );
    }
    let id = rule_id(dangling.reference.trim_start_matches("#/$defs/"));
    let places = dangling
        .at
        .iter()
        .map(|at| format!("  {},\n", quoted(&format!("{at}/$ref"))));
    let (places, since) = (places.collect::<String>(), since(scope));
    let row = format!(
        "[[erratum]]\nid = {id:?}\nreason = \"\"\nsource = \"\"\n{since}at = [\n{places}]\nexpect = {}\nremove = true\n",
        quoted(&dangling.reference)
    );
    Settle::of(errata_file(scope), row)
}

/// Returns the file of the errata of a schema.
pub(super) fn errata_file(scope: &Scope) -> String {
    file_of(scope, ERRATA)
}

/// Returns the rule file of that name for a schema: one for all revisions, one in the folder of each extension.
pub(super) fn file_of(scope: &Scope, name: &str) -> String {
    match scope {
        Scope::Extension { name: of, .. } => format!("{FOLDER}/{of}/{name}"),
        Scope::Revision(_) | Scope::Schema(_) | Scope::Pair(_) => name.to_owned(),
    }
}

/// Returns an erratum that is still to be given a reason; `expect` is what stands there, as JSON, or nothing.
pub(super) fn erratum(scope: &Scope, at: &[&str], expect: Option<&str>, rest: &str) -> Settle {
    let first = at.first().copied().unwrap_or_default();
    let id = rule_id(first.trim_start_matches("/$defs/"));
    let expect = match expect {
        Some(json) => format!("expect-json = {}", toml_text::json(json)),
        None => "expect-absent = true".to_owned(),
    };
    let since = match scope {
        Scope::Schema(_) => "since = \"<revision>\"\n".to_owned(),
        Scope::Revision(_) | Scope::Extension { .. } | Scope::Pair(_) => since(scope),
    };
    let row = format!(
        "[[erratum]]\nid = {id:?}\nreason = \"\"\nsource = \"\"\n{since}at = {}\n{expect}\n{rest}\n",
        toml_text::one_or_many(at)
    );
    Settle::of(errata_file(scope), row)
}

/// Returns the `since` line of a row for the revision that needs it; a schema without a revision gets an empty text.
pub(crate) fn since(scope: &Scope) -> String {
    match scope {
        Scope::Revision(id) => format!("since = {id:?}\n"),
        Scope::Extension {
            state,
            has_older: true,
            ..
        } => format!("since = {state:?}\n"),
        Scope::Extension { .. } | Scope::Schema(_) | Scope::Pair(_) => String::new(),
    }
}
