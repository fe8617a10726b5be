//! Rows that decisions propose, taken to the letter: each gets the generator one step further.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use mcp_revisions_schema::decision::{Decision, Scope};
use mcp_revisions_schema::model::Model;
use mcp_revisions_schema::rules::Rules;
use mcp_revisions_schema::spec::Spec;
use mcp_revisions_schema::spec::methods::MethodRules;

use crate::changes::{FILES, catalogue, changed};
use crate::specs::{directory, spec};

/// What the schema of a revision leaves open in a spec of these files.
fn open(files: &SortedMap<String, String>, id: &str) -> Result<Vec<Decision>, String> {
    let said = |error: mcp_revisions_schema::Error| error.to_string();
    let mut files = files.clone();
    files.retain(|name, _| !name.starts_with("extensions/"));
    let spec = Spec::from_files(files).map_err(said)?;
    let rules = Rules::read(&spec.rules).map_err(said)?;
    let methods = MethodRules::read(&spec).map_err(said)?;
    let schema = &spec.revision(id).map_err(said)?.schema;
    let scope = Scope::Revision(id.to_owned());
    let built = Model::build(schema, &scope, &rules, &methods, &SortedMap::new());
    Ok(built.map_err(said)?.decisions)
}

/// The table that a row stands in.
fn kind(stub: &str) -> &str {
    let mut lines = stub.lines().filter(|line| !line.starts_with('#'));
    lines.next().unwrap_or_default()
}

#[test]
fn every_kind_of_row_that_a_schema_asks_for_is_taken_as_it_is_proposed() {
    let (directory, spec) = (directory(), spec());
    let (mut tried, mut wrong) = (SortedSet::<(String, String)>::new(), Vec::new());
    let changes = FILES.iter().flat_map(|file| catalogue(file));
    for change in changes.filter(|change| change.open.is_some()) {
        let (name, id) = (&change.what, &change.of);
        let mut files = directory.files().clone();
        let schema = changed(&spec.revision(id).unwrap().raw, &change.steps);
        files.insert(format!("{id}/schema.json"), schema.to_string());
        let decisions = match open(&files, id) {
            Ok(decisions) => decisions,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        for decision in decisions {
            let stub = &decision.settle.stub;
            // One row of each kind and change: what is asked alike is answered alike.
            if kind(stub).is_empty() || !tried.insert((kind(stub).to_owned(), name.clone())) {
                continue;
            }
            let mut files = files.clone();
            let filled = stub
                .replace("reason = \"\"", "reason = \"x\"")
                .replace("source = \"\"", "source = \"x\"");
            let file = files.entry(decision.settle.file.clone()).or_default();
            let header = format!("\n{}\n", kind(stub));
            // A line stands in its table, which the file may have.
            match file.find(&header).filter(|_| !header.starts_with("\n[[")) {
                Some(at) => {
                    let line = filled.replacen(kind(stub), "", 1);
                    file.insert_str(at + header.len(), line.trim_start());
                }
                None => file.push_str(&format!("\n{filled}")),
            }
            let left = match open(&files, id) {
                Ok(left) => left,
                Err(error) => {
                    wrong.push(format!("{name}: {stub}{error}"));
                    continue;
                }
            };
            let is_it = |one: &&Decision| one.place == decision.place && one.open == decision.open;
            if let Some(left) = left.iter().find(is_it) {
                wrong.push(format!("{name}: still open: {left}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    let kinds: SortedSet<&str> = tried.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        [
            "[[erratum]]",
            "[[inline]]",
            "[[member]]",
            "[[result]]",
            "[[shape]]",
            "[[type]]",
            "[areas]"
        ]
    );
}
