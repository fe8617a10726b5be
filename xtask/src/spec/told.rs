//! What `cargo xtask spec` says of imports, removals and facts carried over.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcp_schema::open::{Open, Undocumented};
use mcp_schema::spec::{Carried, Fact, Imported, ImportedExtension, Removed};

pub(super) fn imported(imported: &Imported) -> String {
    let Imported {
        revision,
        added,
        schema_changed,
        definitions,
        sha256,
        errata,
        from,
        carried,
        left,
        displaced,
        stale,
    } = imported;
    let what = match (added, schema_changed) {
        (true, _) => "added",
        (false, true) => "schema changed",
        (false, false) => "schema as before",
    };
    let mut text = format!(
        "{revision}: {what}, {definitions} definitions, {errata} errata, sha256 {sha256}\n"
    );
    let from = from.as_deref().unwrap_or_default();
    if !carried.is_empty() {
        let _ = writeln!(
            text,
            "\ncarried over from {from}, to be confirmed (cargo xtask spec confirm {revision}):"
        );
        facts(&mut text, carried);
    }
    if !left.is_empty() {
        text.push_str("\nnot carried over, since it does not hold here:\n");
        for of_fact in left.chunk_by(|a, b| a.fact == b.fact) {
            if let [first, others @ ..] = of_fact {
                let _ = write!(
                    text,
                    "  {}: {}",
                    first.fact,
                    first.why.replace('\n', "\n  ")
                );
                if !others.is_empty() {
                    let _ = write!(text, "\n    and {} places more", others.len());
                }
                text.push('\n');
            }
        }
    }
    if !displaced.is_empty() {
        let _ = writeln!(
            text,
            "\nput aside, since it is about neighbours no more (spec remove {revision} puts it back): {}",
            displaced.join(", ")
        );
    }
    if let Some(error) = stale {
        let _ = writeln!(
            text,
            "\nimported, but errata have to be looked at:\n{error}"
        );
    }
    text
}

pub(super) fn imported_extension(imported: &ImportedExtension) -> String {
    let ImportedExtension {
        name,
        added,
        schema_changed,
        sha256,
        revision,
        own,
        repeated,
        drifted,
        stale,
    } = imported;
    let what = match (added, schema_changed) {
        (true, _) => "added",
        (false, true) => "schema changed",
        (false, false) => "schema as before",
    };
    let mut text = format!(
        "extension {name}: {what}, {own} definitions of its own, {repeated} that repeat {revision}, sha256 {sha256}\n"
    );
    for (definition, lines) in drifted {
        let _ = writeln!(
            text,
            "\n{definition} is not that of {revision} any more, and becomes a type of the extension (- {revision}, + {name}):"
        );
        for line in lines.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    if let Some(error) = stale {
        let _ = writeln!(
            text,
            "\nimported, but what is said of it has to be looked at:\n{error}"
        );
    }
    text
}

/// The width at which lists of facts are broken.
const WIDTH: usize = 110;

/// Facts by kind, as many on a line as fit.
fn facts(text: &mut String, facts: &[Fact]) {
    let (mut kind, mut line) = ("", String::new());
    for fact in facts {
        let (of, name) = kind_of(fact.as_str());
        if of != kind || line.len() + name.len() > WIDTH {
            text.push_str(&line);
            let gap = if line.is_empty() { "" } else { "\n" };
            let indent = if of == kind { "   " } else { "  " };
            let heading = if of == kind { "" } else { of };
            let slash = if of == kind { "" } else { "/" };
            text.push_str(gap);
            line = format!("{indent}{heading}{slash}");
            kind = of;
        }
        let comma = if line.ends_with('/') || line.trim().is_empty() {
            ""
        } else {
            ","
        };
        let _ = write!(line, "{comma} {name}");
    }
    text.push_str(&line);
    text.push('\n');
}

/// `errors/header` and `Accept`; a fact of a file of one kind has no table in its name.
fn kind_of(fact: &str) -> (&str, &str) {
    let Some((file, rest)) = fact.split_once('/') else {
        return ("", fact);
    };
    match (file, rest.find('/')) {
        ("errata" | "docs" | "shims", _) | (_, None) => (file, rest),
        (_, Some(at)) => (&fact[..file.len() + 1 + at], &rest[at + 1..]),
    }
}

pub(super) fn carried(revision: &str, carried: Option<&Carried>) -> String {
    match carried {
        Some(carried) if !carried.facts.is_empty() => {
            let mut text = format!(
                "{} facts of {revision} were carried over from {} and are to be confirmed:\n",
                carried.facts.len(),
                carried.from
            );
            facts(&mut text, &carried.facts);
            text
        }
        _ => format!("nothing of {revision} is to be confirmed\n"),
    }
}

pub(super) fn confirmed(settled: &[Fact], dropped: bool, left: Option<&Carried>) -> String {
    let word = if dropped { "taken back" } else { "confirmed" };
    let left = left.map_or(0, |carried| carried.facts.len());
    format!("{} facts {word}, {left} to go\n", settled.len())
}

pub(super) fn removed(removed: &Removed) -> String {
    let Removed {
        revision,
        facts: held,
        unused,
        files,
        restored,
        handed_on,
        replaced,
    } = removed;
    let mut text = format!(
        "{revision}: removed, with {} facts, {} rules that nothing else needs, {} files\n",
        held.len(),
        unused.len(),
        files.len()
    );
    if !held.is_empty() {
        text.push_str("\nwas said of it:\n");
        facts(&mut text, held);
    }
    if let Some((draft, handed)) = handed_on {
        let _ = writeln!(text, "\nsaid of {draft} from now on, which was the same:");
        facts(&mut text, handed);
    }
    let mut list = |heading: &str, names: &[String]| {
        if !names.is_empty() {
            let _ = writeln!(text, "\n{heading}:\n  {}", names.join("\n  "));
        }
    };
    list("rules that nothing else needs", unused);
    list("files", files);
    list("put back as before its import", restored);
    if let Some(digest) = replaced {
        let _ = writeln!(
            text,
            "\nnot restored: its import replaced another schema, of sha256 {digest}; import that file again to have it back"
        );
    }
    text
}

/// What is open, each thing once, with the lines that would settle it.
pub(super) fn open(open: &Open) -> String {
    let Open {
        decisions,
        undocumented,
        problems,
    } = open;
    if open.is_empty() {
        return "\nnothing is open: cargo xtask generate\n".to_owned();
    }
    let mut text = "\nopen:\n".to_owned();
    for problem in problems {
        let _ = writeln!(text, "{problem}");
    }
    for decision in decisions {
        let _ = writeln!(text, "{}", decision.clone().refused());
    }
    for Undocumented { of, file, names } in undocumented {
        let _ = writeln!(
            text,
            "spec/{file}: {} of {of} without a doc line: {}",
            names.len(),
            names.join(", ")
        );
    }
    let lines: usize = undocumented.iter().map(|one| one.names.len()).sum();
    let _ = writeln!(
        text,
        "{} decisions, {lines} doc lines, {} problems",
        decisions.len(),
        problems.len()
    );
    text
}

pub(super) fn scaffolded(written: &BTreeMap<String, usize>) -> String {
    let mut text = String::new();
    for (file, stubs) in written {
        let _ = writeln!(text, "spec/{file}: {stubs} stubs written, to be filled in");
    }
    text
}
