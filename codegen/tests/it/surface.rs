//! What a generation may not change: the public items of released revisions.

use mcp_codegen::generate::{Generated, generate};
use mcp_codegen::import::{ImportOptions, SpecDirectory, UpstreamFile};
use mcp_codegen::surface;
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::spec::{Lifecycle, RevisionStage};

use crate::says;
use crate::specs::{directory, generated, generated_twin, spec, twin_directory};

/// Checks what is made of files against what stands.
fn checked_files(stands: &Generated, files: SortedMap<String, String>) -> Result<(), String> {
    let spec = SpecDirectory::from_files(files).spec().unwrap();
    checked(stands, &spec, &generate(&spec).unwrap())
}

/// Checks what was made of a spec against what stands.
fn checked(stands: &Generated, spec: &Spec, made: &Generated) -> Result<(), String> {
    let crates = stands.crates.iter();
    let crates = crates.map(|one| (one.package.clone(), one.files.clone()));
    let packages = surface::packages(spec);
    let stands = crates.filter(|(package, _)| packages.contains(package));
    surface::check(spec, &stands.collect(), made).map_err(|error| error.to_string())
}

/// The files of the workspace with another row in `shapes.toml`.
fn with_shape(row: &str) -> SortedMap<String, String> {
    let mut files = directory().files().clone();
    let shapes = files.get_mut("shapes.toml").unwrap();
    *shapes = format!("{row}\n{shapes}");
    let docs = files.get_mut("docs.toml").unwrap();
    let (before, after) = docs.split_once("\n[IconTheme]\n").unwrap();
    let after = after.split_once("\n\n").unwrap().1;
    *docs = format!("{before}\n{after}");
    files
}

#[test]
fn a_row_for_every_revision_that_changes_a_release_is_refused_by_its_items() {
    let stands = generated();
    assert_eq!(checked(stands, spec(), stands), Ok(()));
    let row = "[[shape]]\nat = \"Icon.theme\"\nas = \"json\"\nreason = \"x\"\n";
    let refused = checked_files(stands, with_shape(row)).unwrap_err();
    says(
        &refused,
        "mcp-2025-11-25: Icon.theme was `Option<IconTheme>`, and is `Option<Json>`",
    );
    says(&refused, "mcp-2026-07-28: IconTheme is gone");
    says(&refused, "says `since = \"ID\"`");
}

/// What stands differs from what is made as a user would see it.
#[test]
fn what_an_extension_changes_or_names_no_more_is_refused_and_a_type_of_its_revision_is_not() {
    let mut stands = generated().clone();
    let mut edit = |package: &str, path: &str, from: &str, to: &str| {
        let one = stands.crates.iter_mut().find(|one| one.package == package);
        let text = one.unwrap().files.get_mut(path).unwrap();
        assert!(text.contains(from), "{text}");
        *text = text.replacen(from, to, 1);
    };
    let (tasks, shared) = ("mcp-ext-tasks", "v2024_11_05_on/lifecycle.rs");
    // A type of the revision in the type of a field, a method, a name of the revision, and a name of the runtime.
    let field = "pub input_requests: InputRequests";
    let optional = "pub input_requests: Option<InputRequests>";
    edit(tasks, "src/messages.rs", field, optional);
    edit(tasks, "src/services.rs", "fn cancel_task(", "fn stop_task(");
    edit(tasks, "src/lib.rs", "IconTheme,", "IconTheme, Emblem,");
    let of_runtime = "pub use mcp_wire::RequestId;";
    let two = format!("{of_runtime} pub use mcp_wire::Gone;");
    edit("mcp-shared", &format!("src/{shared}"), of_runtime, &two);
    // A type that was the extension's, and is the revision's now.
    let own = "pub struct IconTheme { pub name: String } impl IconTheme { pub fn new() -> Self { todo!() } } impl Default for IconTheme {} pub struct CancelledTask";
    edit(tasks, "src/messages.rs", "pub struct CancelledTask", own);
    edit(tasks, "src/lib.rs", "IconTheme,", "");
    let refused = checked(&stands, spec(), generated()).unwrap_err();
    says(
        &refused,
        "mcp-ext-tasks: InputRequiredTask.input_requests was `Option<InputRequests>`, and is `InputRequests`",
    );
    says(&refused, "::stop_task is gone");
    says(&refused, "mcp-ext-tasks: Emblem is gone");
    says(&refused, "mcp-2026-07-28: Gone is gone");
    assert!(!refused.contains("IconTheme"), "{refused}");
}

/// A release that is the same as the one before moves types into the shared crate, and nothing of them changes.
#[test]
fn a_new_release_moves_types_between_crates_and_changes_none() {
    let mut next = twin_directory();
    let latest = crate::specs::latest(spec());
    let options = ImportOptions {
        revision: "next".to_owned(),
        lifecycle: Some(Lifecycle::PerRequest),
        status: Some(RevisionStage::Released),
        ..ImportOptions::default()
    };
    let schema = UpstreamFile::of_text("next", &latest.raw.to_string()).unwrap();
    next.import(&schema, &options).unwrap();
    let mut files = next.files().clone();
    let shapes = files.get_mut("shapes.toml").unwrap();
    shapes.push_str(
        "\n[[shape]]\nat = \"Icon.sizes\"\nas = \"json\"\nsince = \"next\"\nreason = \"x\"\n",
    );
    let rule = "[[rule]]\nid = \"sizes\"\nat = \"Icon.sizes\"\nup = \"drop\"\ndown = \"drop\"\nseverity = \"cosmetic\"\nreason = \"x\"\nsource = \"x\"\nexample = [\n  { type = \"Icon\", way = \"up\", input = '{\"src\":\"a\",\"sizes\":[\"1x1\"]}', output = '{\"src\":\"a\"}', loses = [\"/sizes\"] },\n  { type = \"Icon\", way = \"down\", input = '{\"src\":\"a\",\"sizes\":[\"1x1\"]}', output = '{\"src\":\"a\"}', loses = [\"/sizes\"] },\n]\n";
    files.insert(format!("shims/{}..next.toml", latest.id), rule.to_owned());
    assert_eq!(checked_files(generated_twin(), files), Ok(()));
}
