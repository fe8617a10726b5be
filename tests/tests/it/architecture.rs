//! The crates know of each other what ARCHITECTURE.md draws, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Every crate of types is one room of the drawing.
const TYPES: &str = "mcp-<revision>";

/// So is every crate of an extension.
const EXTENSIONS: &str = "mcp-ext-<name>";

#[test]
fn the_crates_are_as_drawn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (drawn, built) = (drawn(root), built(root));
    for (name, knows) in &built {
        let Some(drawn) = drawn.get(name) else {
            panic!("ARCHITECTURE.md does not draw `{name}`, which knows {knows:?}");
        };
        assert_eq!(knows, drawn, "what `{name}` knows, and what is drawn");
    }
    let gone: Vec<&String> = drawn
        .keys()
        .filter(|name| !built.contains_key(*name))
        .collect();
    assert!(gone.is_empty(), "drawn, and not there: {gone:?}");
}

/// Most lines of the hand-written runtime that hang on a feature. A gate stands at a module, and one that others call has a
/// stand-in: a new gate takes the place of another one.
const GATES: usize = 90;

#[test]
fn a_reader_of_the_runtime_meets_few_gates_of_features() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut gates = Vec::new();
    for path in sources(&root.join("runtime")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_gate = |line: &&str| {
            let (_, behind) = line.split_once("cfg").unwrap_or_default();
            line.contains("feature = ") || behind.contains("feature")
        };
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let found = text.lines().filter(is_code).filter(is_gate);
        gates.extend(found.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
    let count = gates.len();
    assert!(count > 50, "{count} gates: they are not found any more");
    assert!(count <= GATES, "{count} gates:\n{}", gates.join("\n"));
}

/// Returns the source files of the crates below a folder, without their tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "benches", "examples", "target"].contains(&&*name) {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found
}

/// The lines of the block named `crates`: a name, and what it knows.
fn drawn(root: &Path) -> Graph {
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let block = page
        .split("```crates\n")
        .nth(1)
        .expect("a block named `crates`");
    let block = block.split("```").next().unwrap();
    let line = |line: &str| {
        let (name, knows) = line.split_once(" -> ").unwrap_or((line, ""));
        let knows = knows.split(", ").filter(|name| !name.is_empty());
        (name.to_owned(), knows.map(str::to_owned).collect())
    };
    block.lines().map(line).collect()
}

/// What the manifests of the workspace say.
fn built(root: &Path) -> Graph {
    let manifests: Vec<toml::Table> = members(root).iter().map(|path| table(path)).collect();
    let name = |manifest: &toml::Table| manifest["package"]["name"].as_str().unwrap().to_owned();
    let own: BTreeSet<String> = manifests.iter().map(name).collect();
    let mut graph = Graph::new();
    for manifest in &manifests {
        let from = room(&name(manifest));
        let knows = manifest.get("dependencies").and_then(toml::Value::as_table);
        let knows = knows.into_iter().flat_map(toml::Table::keys);
        let knows = knows
            .filter(|name| own.contains(*name))
            .map(|name| room(name));
        // A revision that is the same as another is made of it.
        let knows = knows.filter(|name| *name != from);
        graph.entry(from.clone()).or_default().extend(knows);
    }
    graph
}

fn members(root: &Path) -> Vec<PathBuf> {
    let workspace = table(root);
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let mut all = Vec::new();
    for member in members {
        let member = member.as_str().unwrap();
        match member.strip_suffix("/*") {
            None => all.push(root.join(member)),
            Some(folder) => {
                let entries = std::fs::read_dir(root.join(folder)).unwrap();
                let paths = entries.map(|entry| entry.unwrap().path());
                all.extend(paths.filter(|path| path.join("Cargo.toml").is_file()));
            }
        }
    }
    all
}

fn table(folder: &Path) -> toml::Table {
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    text.parse().unwrap()
}

/// The room of a crate: what is under `generated/` is of one revision or extension, but for what all of them have.
fn room(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let is_generated = root.join("generated").join(name).is_dir();
    let room = match name {
        "mcp-shared" | "mcp-shims" | "mcp-revisions-tables" => name,
        _ if !is_generated => name,
        _ if name.starts_with("mcp-ext-") => EXTENSIONS,
        _ => TYPES,
    };
    room.to_owned()
}

#[test]
fn a_shared_type_rests_on_types_that_all_its_revisions_have() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated/mcp-shared/src");
    let lib = std::fs::read_to_string(root.join("lib.rs")).unwrap();
    // `#[cfg(any(feature = "..", ..))]` stands before each module of types, by the revisions that have them.
    let mut features: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut gate = "";
    for line in lib.lines() {
        if line.starts_with("#[cfg(") {
            gate = line;
        } else if let Some(module) = line.strip_prefix("pub mod ")
            && let Some(module) = module.strip_suffix(';')
        {
            features.insert(module, gate.split('"').skip(1).step_by(2).collect());
        }
    }
    assert!(features.len() > 3, "{features:?}");
    for (module, revisions) in &features {
        let inside = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten();
        let files = inside(root.join(module)).chain(inside(root.join(module).join("wire")));
        for file in files.map(|file| file.unwrap().path()) {
            let text = match file.is_file() {
                true => std::fs::read_to_string(file).unwrap(),
                false => continue,
            };
            for used in text.split("use crate::").skip(1) {
                let used = used.split("::").next().unwrap();
                if let Some(there) = features.get(used) {
                    assert!(
                        revisions.is_subset(there),
                        "{module} is there without {used}, which it uses"
                    );
                }
            }
        }
    }
}
