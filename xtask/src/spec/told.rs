//! What `cargo xtask spec` says of imports, removals and facts to confirm.

use mcp_schema::sorted::SortedMap;
use std::fmt::Write as _;

use mcp_schema::open::{Open, Undocumented};
use mcp_schema::render::text::wrapped;
use mcp_schema::spec::{Fact, Imported, ImportedExtension, Removed};

pub(super) fn imported(imported: &Imported) -> String {
    let Imported {
        revision,
        added,
        schema_changed,
        definitions,
        sha256,
        errata,
        from,
        held,
        left,
        ended,
        displaced,
        stale,
    } = imported;
    let what = what(*added, *schema_changed);
    let mut text = format!(
        "{revision}: {what}, {definitions} definitions, {errata} errata, sha256 {sha256}\n"
    );
    if let Some(from) = from {
        let _ = writeln!(text, "\nwhat began with {from} begins with {revision}");
    }
    if !held.is_empty() {
        let _ = writeln!(
            text,
            "\nhold for {revision}, to be confirmed (cargo xtask spec confirm {revision}):"
        );
        facts(&mut text, held);
    }
    if !left.is_empty() {
        let _ = writeln!(text, "\ndo not hold for {revision}:");
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
    if !ended.is_empty() {
        let _ = writeln!(
            text,
            "\nended with the revision before; where one holds again, take its `until` out:"
        );
        facts(&mut text, ended);
    }
    if !displaced.is_empty() {
        let _ = writeln!(
            text,
            "\nrules of two revisions that it separates; rename each file to the pair whose rules it has now, or delete it: {}",
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
    let what = what(*added, *schema_changed);
    let mut text = format!(
        "extension {name}: {what}, {own} definitions of its own, {repeated} that repeat {revision}, {} that differ from it, sha256 {sha256}\n",
        drifted.len()
    );
    for (definition, lines) in drifted {
        let _ = writeln!(
            text,
            "\n{definition} differs from that of {revision}, and becomes a type of the extension (- {revision}, + {name}):"
        );
        for line in lines.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    if let Some(error) = stale {
        let _ = writeln!(
            text,
            "\nimported, but these facts do not match its schema:\n{error}"
        );
    }
    text
}

/// The width at which lists of facts are broken.
const WIDTH: usize = 110;

/// Facts by kind, as many on a line as fit.
fn facts(text: &mut String, facts: &[Fact]) {
    let parts: Vec<(&str, &str)> = facts.iter().map(|fact| kind_of(fact.as_str())).collect();
    for of_kind in parts.chunk_by(|a, b| a.0 == b.0) {
        let kind = of_kind.first().map_or("", |(kind, _)| kind);
        let names: Vec<&str> = of_kind.iter().map(|(_, name)| *name).collect();
        let all = format!("{kind}/ {}", names.join(", "));
        for (number, line) in wrapped(&all, WIDTH).iter().enumerate() {
            let indent = if number == 0 { "  " } else { "    " };
            let _ = writeln!(text, "{indent}{line}");
        }
    }
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

pub(super) fn unconfirmed(revision: &str, open: &[Fact]) -> String {
    if open.is_empty() {
        return format!("nothing of {revision} is to be confirmed\n");
    }
    let mut text = format!(
        "{} facts hold for {revision} and are to be confirmed:\n",
        open.len()
    );
    facts(&mut text, open);
    text
}

pub(super) fn confirmed(settled: &[Fact], dropped: bool, left: usize) -> String {
    let word = if dropped { "ended" } else { "confirmed" };
    format!("{} facts {word}, {left} to go\n", settled.len())
}

pub(super) fn removed(removed: &Removed) -> String {
    let Removed {
        revision,
        facts: held,
        unused,
        files,
        handed_on,
        opened,
        ended,
    } = removed;
    let mut text = format!(
        "{revision}: removed, with {} facts, {} rules that nothing else needs, {} files\n",
        held.len(),
        unused.len(),
        files.len()
    );
    if !held.is_empty() {
        text.push_str("\nheld for it:\n");
        facts(&mut text, held);
    }
    if let Some((draft, handed)) = handed_on {
        let _ = writeln!(text, "\nbegins with {draft} now:");
        facts(&mut text, handed);
    }
    if !opened.is_empty() {
        text.push_str("\nended before it, and has no end now:\n");
        facts(&mut text, opened);
    }
    if !ended.is_empty() {
        text.push_str("\nended before it, and still does; where it holds for the draft, take its `until` out:\n");
        facts(&mut text, ended);
    }
    let mut list = |heading: &str, names: &[String]| {
        if !names.is_empty() {
            let _ = writeln!(text, "\n{heading}:\n  {}", names.join("\n  "));
        }
    };
    list("rules that nothing else needs", unused);
    list("files", files);
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

pub(super) fn scaffolded(written: &SortedMap<String, usize>) -> String {
    let mut text = String::new();
    for (file, stubs) in written {
        let _ = writeln!(text, "spec/{file}: {stubs} stubs written, to be filled in");
    }
    text
}

fn what(added: bool, schema_changed: bool) -> &'static str {
    match (added, schema_changed) {
        (true, _) => "added",
        (false, true) => "schema changed",
        (false, false) => "schema as before",
    }
}
