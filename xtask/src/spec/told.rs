//! What `cargo xtask spec` says of imports and facts to confirm.

use mcp_revisions_schema::sorted::SortedMap;
use std::fmt::Write as _;

use mcp_codegen::import::{Fact, Imported, ImportedExtension, Left, SpecGaps};
use mcp_revisions_diff::render::text::wrapped;
use mcp_revisions_schema::Undocumented;

pub(super) fn imported(imported: &Imported) -> String {
    let revision = &imported.revision;
    let what = what(imported.added, imported.schema_changed);
    let mut text = format!(
        "{revision}: {what}, {} definitions, {} errata, sha256 {}\n",
        imported.definitions, imported.errata, imported.sha256
    );
    if let Some(respelled) = &imported.respelled {
        let _ = writeln!(
            text,
            "\nthe file has the same schema, spelled otherwise (sha256 {respelled}): the digest on record stays; if upstream spells it so now, take `sha256` out of its row and import again"
        );
    }
    for folder in &imported.taken_back {
        let _ = writeln!(
            text,
            "\nits core has all methods of the extension `{folder}`, which names it in [later-core] now: messages are converted by way of the extension"
        );
    }
    if let Some(from) = &imported.from {
        let _ = writeln!(text, "\nwhat began with {from} begins with {revision}");
    }
    let heading =
        format!("hold for {revision}, to be confirmed (cargo xtask spec confirm {revision})");
    facts(&mut text, &heading, &imported.held);
    if !imported.left.is_empty() {
        let _ = writeln!(text, "\ndo not hold for {revision}:");
    }
    for of_fact in imported.left.chunk_by(|a, b| a.fact == b.fact) {
        if let [Left { fact, why }, others @ ..] = of_fact {
            let _ = write!(text, "  {fact}: {}", why.replace('\n', "\n  "));
            if !others.is_empty() {
                let _ = write!(text, "\n    and {} places more", others.len());
            }
            text.push('\n');
        }
    }
    let heading = "ended with the revision before; where one holds again, take its `until` out";
    facts(&mut text, heading, &imported.ended);
    if !imported.displaced.is_empty() {
        let _ = writeln!(
            text,
            "\nrules of two revisions that it separates; rename each file to the pair whose rules it has now, or delete it: {}",
            imported.displaced.join(", ")
        );
    }
    if let Some(error) = &imported.stale {
        let problem = "imported, but errata have to be looked at";
        let _ = writeln!(text, "\n{problem}:\n{error}");
    }
    text
}

pub(super) fn imported_extension(imported: &ImportedExtension) -> String {
    let (name, revision) = (&imported.name, &imported.revision);
    let what = what(imported.added, imported.schema_changed);
    let stage = (imported.stage).map_or_else(String::new, |stage| format!(", stage {stage}"));
    let mut text = format!(
        "extension {name}, state {}{stage}: {what}, {} definitions of its own, {} that repeat {revision}, {} that differ from it, sha256 {}\n",
        imported.state,
        imported.own,
        imported.repeated,
        imported.drifted.len(),
        imported.sha256
    );
    if imported.superseded > 0 {
        let _ = writeln!(
            text,
            "\nupstream's schema stands in the place of ours: `written-from` and {} statements are gone",
            imported.superseded
        );
    }
    for (definition, lines) in &imported.drifted {
        let _ = writeln!(
            text,
            "\n{definition} differs from that of {revision}, and becomes a type of the extension (- {revision}, + {name}):"
        );
        for line in lines.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    for (heading, methods) in [
        (
            "ended with the state before, which has them last",
            &imported.ended,
        ),
        (
            "began with a draft, and begin with this state",
            &imported.begun,
        ),
    ] {
        if !methods.is_empty() {
            let _ = writeln!(text, "\n{heading}: {}", methods.join(", "));
        }
    }
    if let Some(error) = &imported.stale {
        let problem = "imported, but these facts do not match its schema";
        let _ = writeln!(text, "\n{problem}:\n{error}");
    }
    text
}

/// The width at which lists of facts are broken.
const WIDTH: usize = 110;

/// Facts by kind below a heading, as many on a line as fit; nothing where there are none.
fn facts(text: &mut String, heading: &str, facts: &[Fact]) {
    if !facts.is_empty() {
        let _ = writeln!(text, "\n{heading}:");
    }
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
    let number = open.len();
    let heading = format!("{number} facts hold for {revision} and are to be confirmed");
    let mut text = String::new();
    facts(&mut text, &heading, open);
    text.trim_start().to_owned()
}

pub(super) fn confirmed(settled: &[Fact], dropped: bool, left: usize) -> String {
    let word = if dropped { "ended" } else { "confirmed" };
    format!("{} facts {word}, {left} to go\n", settled.len())
}

/// Returns the open questions, each once, with the lines that would settle it.
pub(super) fn open(open: &SpecGaps) -> String {
    let SpecGaps {
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
    for one in undocumented {
        let Undocumented { of, file, missing } = one;
        let names: Vec<String> = one.names().collect();
        let _ = writeln!(
            text,
            "spec/{file}: {} of {of} without a doc line: {}",
            missing.len(),
            names.join(", ")
        );
    }
    let lines: usize = undocumented.iter().map(|one| one.missing.len()).sum();
    let _ = writeln!(
        text,
        "{} decisions, {lines} doc lines, {} problems",
        decisions.len(),
        problems.len()
    );
    text
}

pub(super) fn scaffolded(written: &SortedMap<String, usize>) -> String {
    let line = |(file, stubs): &(String, usize)| {
        format!("spec/{file}: {stubs} stubs written, to be filled in\n")
    };
    written.iter().map(line).collect()
}

fn what(added: bool, schema_changed: bool) -> &'static str {
    match (added, schema_changed) {
        (true, _) => "added",
        (false, true) => "schema changed",
        (false, false) => "schema as before",
    }
}
