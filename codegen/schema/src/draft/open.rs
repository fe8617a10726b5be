//! Open questions of a schema on its way to a draft, and the answers that lose nothing.

use crate::Error;
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::naming::rule_id;
use crate::pointer::unescaped;
use crate::schema::{KNOWN, Schema, Unsupported};
use crate::spec::ERRATA;
use crate::spec::extensions::{Dangling, FOLDER};
use crate::spec::toml_text::quoted;

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

/// Lists unknown keywords: each has no effect, by the rules of JSON Schema.
pub(super) fn unknown(schema: &Schema, scope: &Scope) -> Vec<Decision> {
    let of = |(pointer, value): &(String, serde_json::Value)| {
        let keyword = pointer
            .rsplit('/')
            .next()
            .map(unescaped)
            .unwrap_or_default();
        let mut settle = erratum(scope, pointer, Some(&value.to_string()), "remove = true");
        let teach = "# or teach codegen/schema/src/schema/parse.rs what it means\n";
        settle.stub.insert_str(0, teach);
        let open = format!("expected {KNOWN}, found the keyword `{keyword}`");
        let answer = format!("`{keyword}` says nothing of what is valid");
        scope.asks(QuestionKind::Shape, pointer.clone(), open, answer, settle)
    };
    schema.unknown.iter().map(of).collect()
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
        return erratum(scope, &at, None, &format!("replace-json = '''{inner}'''"));
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
pub(super) fn erratum(scope: &Scope, at: &str, expect: Option<&str>, rest: &str) -> Settle {
    let id = rule_id(at.trim_start_matches("/$defs/"));
    let expect = match expect {
        Some(json) => format!("expect-json = '''{json}'''"),
        None => "expect-absent = true".to_owned(),
    };
    let since = match scope {
        Scope::Schema(_) => "since = \"<revision>\"\n".to_owned(),
        Scope::Revision(_) | Scope::Extension { .. } | Scope::Pair(_) => since(scope),
    };
    let row = format!(
        "[[erratum]]\nid = {id:?}\nreason = \"\"\nsource = \"\"\n{since}at = {at:?}\n{expect}\n{rest}\n"
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
