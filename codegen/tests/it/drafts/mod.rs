//! Drafts of the day: published schemas, and a real one changed as drafts change, through `generate::alone`.
//!
//! Each makes a crate that parses, or is refused with the place and with what to do; some are compiled.

use std::path::Path;

use mcp_codegen::generate::{Alone, Crate, alone};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::sorted::SortedSet;
use serde_json::{Map, Value, json};

mod damage;
mod order;
mod proposed;

use crate::changes::{self, Change, FILES, catalogue, each_file, reference};
use crate::refusal::helpful;
use crate::specs::spec;
use crate::workspace::{Workspace, repository};

fn generate(text: &str, package: &str) -> Result<Crate, Error> {
    let wire = repository().join("runtime/wire");
    let one = Alone {
        text,
        file: "draft.json",
        package,
        wire: &wire.display().to_string(),
        sha256: "0",
    };
    alone(spec(), &one)
}

/// The revision that most of what follows draws on.
const LATEST: &str = "2026-07-28";

/// That revision as it was published.
fn latest() -> Value {
    spec().revision(LATEST).unwrap().raw.clone()
}

/// The unions that list messages.
const LISTS: [&str; 5] = [
    "ClientRequest",
    "ServerRequest",
    "ClientNotification",
    "ServerNotification",
    "InputRequest",
];

/// The part of a schema that some definitions refer to, and what answers the requests among it: of the lists, what is in it.
fn part(whole: &Value, roots: impl IntoIterator<Item = String>) -> Value {
    let all = whole["$defs"].as_object().unwrap();
    let mut kept = Map::new();
    let mut open: Vec<String> = roots.into_iter().collect();
    while let Some(name) = open.pop() {
        let Some(definition) = all.get(&name).filter(|_| !kept.contains_key(&name)) else {
            continue;
        };
        let text = definition.to_string();
        let named = text.split("#/$defs/").skip(1);
        open.extend(named.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
        if let Some(stem) = name.strip_suffix("Request") {
            open.extend(["Result", "ResultResponse"].map(|end| format!("{stem}{end}")));
        }
        kept.insert(name, definition.clone());
    }
    for list in LISTS.iter().filter_map(|name| all.get_key_value(*name)) {
        let mut own = list.1.clone();
        let Some(items) = own.get_mut("anyOf").and_then(Value::as_array_mut) else {
            continue;
        };
        items.retain(|item| kept.keys().any(|name| *item == reference(name)));
        if !items.is_empty() {
            kept.insert(list.0.clone(), own);
        }
    }
    json!({"$schema": whole["$schema"], "$defs": kept})
}

/// The crate of a changed schema: of the definitions that the row names, and what refers to them, or of the whole where it
/// names a list of messages.
fn changed(change: &Change, package: &str) -> Result<Crate, Error> {
    let whole = &spec().revision(&change.of).unwrap().raw;
    let row = format!("{change:?}");
    let words: SortedSet<&str> = row
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let schema = match LISTS.iter().any(|name| words.contains(name)) {
        true => whole.clone(),
        false => {
            let all = whole["$defs"].as_object().unwrap();
            let is_user = |name: &String, definition: &Value| {
                let text = definition.to_string();
                let mut used = text.split("#/$defs/").skip(1);
                let is_named = |rest: &str| words.contains(rest.split('"').next().unwrap_or(""));
                !LISTS.contains(&name.as_str()) && used.any(is_named)
            };
            let users = all
                .iter()
                .filter(|(name, definition)| is_user(name, definition));
            let named = words.iter().chain(&["ListToolsRequest", "RequestParams"]);
            let named = named.map(|name| (*name).to_owned());
            part(whole, named.chain(users.map(|(name, _)| name.clone())))
        }
    };
    let schema = changes::changed(&schema, &change.steps);
    generate(&schema.to_string(), package)
}

/// What every crate has to be, whatever it was made of.
fn check_parses(generated: &Crate) {
    for (path, text) in &generated.files {
        if path.ends_with(".rs") {
            syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        } else if path.ends_with(".toml") {
            let manifest: toml::Table = text.parse().unwrap();
            assert!(manifest.contains_key("package"), "{path}: {text}");
        }
    }
}

/// The safe answers that a crate rests on.
fn taken(generated: &Crate) -> String {
    let lines = generated.decisions.iter().map(|one| format!("{one}\n"));
    lines.collect()
}

/// Holds a file of the catalogue against what the generator makes of its changes.
fn check(file: &str) {
    let mut wrong = Vec::new();
    for change in catalogue(file) {
        let name = &change.what;
        let mut says = |wanted: &[String], found: &dyn Fn(&str) -> bool, all: &str| {
            for text in wanted.iter().filter(|text| !found(text)) {
                wrong.push(format!("{name}: it does not say `{text}`, but\n{all}"));
            }
        };
        match (changed(&change, "mcp-draft"), &change) {
            (
                Ok(made),
                Change {
                    open: Some(texts), ..
                },
            ) => {
                let said = taken(&made);
                check_parses(&made);
                says(texts, &|text| said.contains(text), &said);
            }
            (
                Err(error),
                Change {
                    refused: Some(texts),
                    ..
                },
            ) => {
                let said = helpful(&error);
                says(texts, &|text| said.contains(text), &said);
            }
            (
                Ok(made),
                Change {
                    refused: None,
                    makes,
                    ..
                },
            ) if made.decisions.is_empty() => {
                let has = |text: &str| made.files.values().any(|file| file.contains(text));
                says(makes, &has, "the text of a crate");
                check_parses(&made);
            }
            (Ok(made), _) => wrong.push(format!("{name}: a crate that takes\n{}", taken(&made))),
            (Err(error), _) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

each_file!(check);

#[test]
fn published_schemas_make_crates() {
    let upstream = repository().parent().unwrap().join("shared/upstream");
    if !upstream.is_dir() {
        println!(
            "skipped: the published schemas are not at {}",
            upstream.display()
        );
        return;
    }
    let made = |id: &str| {
        let path: &Path = &upstream.join(id).join("schema.json");
        let text = std::fs::read_to_string(path).unwrap();
        generate(&text, "mcp-published")
    };
    for (id, methods) in [
        ("2024-11-05", 27),
        ("2025-03-26", 27),
        ("2025-06-18", 28),
        ("2025-11-25", 39),
        ("2026-07-28", 22),
        ("draft", 22),
    ] {
        let generated = made(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        check_parses(&generated);
        let definitions = spec().revision(id).unwrap().definitions().count();
        assert!(
            generated.types >= definitions,
            "{id}: {} types",
            generated.types
        );
        assert_eq!(generated.methods, methods, "{id}");
        // Our line comes first, then the schema's own.
        let documented = |line: &str| generated.files.values().any(|text| text.contains(line));
        assert!(
            documented("/// Identifier for programs, also shown to users"),
            "{id}"
        );
        assert!(!documented("has no doc line yet"), "{id}");
    }
    // The candidate says of no result that it answers this; the rule that does is for that revision, and any like it.
    let candidate = made("2026-07-28-rc").unwrap();
    assert_eq!(taken(&candidate), "");
}

/// Changes that reach far, and all that leave something open, in one schema: each holds beside the others.
#[test]
fn changed_drafts_compile() {
    const FAR: [&str; 6] = [
        "inline a struct that stands at several places",
        "add a request with its result",
        "a nullable required member of another definition",
        "an object that holds itself",
        "two tags of one value",
        "a nullable definition",
    ];
    let all = FILES.iter().flat_map(|file| catalogue(file));
    let mut far: Vec<Change> = all.filter(|one| FAR.contains(&one.what.as_str())).collect();
    far.retain(|change| change.of == LATEST);
    assert_eq!(far.len(), FAR.len());
    let mut draft = latest();
    for change in far.iter().chain(&catalogue("open")) {
        changes::apply(&mut draft, &change.steps);
    }
    let generated = generate(&draft.to_string(), "mcp-drafts").unwrap();
    assert!(generated.decisions.len() >= 12, "{}", taken(&generated));
    let has = |part: &String| generated.files.values().any(|text| text.contains(part));
    for change in &far {
        assert!(change.makes.iter().all(has), "{}", change.what);
    }
    let mut workspace = Workspace::new("drafts");
    workspace.add("drafts", &generated);
    if let Err(said) = workspace.cargo(&["check"]) {
        panic!("{said}");
    }
}
