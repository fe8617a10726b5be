//! A draft whose core takes the tasks extension back, made of the spec as it stands: what its maintainer is asked, and what
//! need not be asked.

use mcp_codegen::import::{ImportOptions, SpecDirectory, SpecGaps, UpstreamFile};
use mcp_revisions_schema::Models;
use mcp_revisions_schema::decision::{Decision, Scope};
use mcp_revisions_schema::spec::{ExtensionSpec, Spec};
use serde_json::{Value, json};

use crate::{says, specs};
use std::sync::LazyLock;

/// The state of the tasks extension that the core took back.
fn extension(spec: &Spec) -> &ExtensionSpec {
    let mut all = spec.extensions.iter();
    all.find(|one| one.name == "tasks").unwrap()
}

/// The schema of the latest release with the definitions of the extension, as upstream has both.
fn schema(spec: &Spec) -> Value {
    let mut schema = specs::latest(spec).raw.clone();
    let own = extension(spec).raw["$defs"].as_object().unwrap();
    let definitions = schema["$defs"].as_object_mut().unwrap();
    for (name, definition) in own {
        let known = definitions.entry(name.as_str());
        known.or_insert_with(|| definition.clone());
    }
    let refers = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let listed = [
        ("ClientRequest", "GetTaskRequest"),
        ("ClientRequest", "UpdateTaskRequest"),
        ("ClientRequest", "CancelTaskRequest"),
        ("ServerNotification", "TaskStatusNotification"),
    ];
    for (union, name) in listed {
        let all = definitions[union]["anyOf"].as_array_mut().unwrap();
        all.push(refers(name));
    }
    let results = &mut definitions["CallToolResultResponse"]["properties"]["result"]["anyOf"];
    results
        .as_array_mut()
        .unwrap()
        .push(refers("CreateTaskResult"));
    definitions["ServerCapabilities"]["properties"]["tasks"] = refers("TasksExtensionCapability");
    schema
}

/// The directory with a schema imported.
fn imported(directory: &SpecDirectory, schema: &Value, options: &ImportOptions) -> SpecDirectory {
    let mut directory = directory.clone();
    let upstream = UpstreamFile::of_text("schema.json", &schema.to_string()).unwrap();
    directory.import(&upstream, options).unwrap();
    directory
}

fn as_draft() -> ImportOptions {
    ImportOptions {
        revision: "draft".to_owned(),
        ..ImportOptions::default()
    }
}

/// The directory with that schema as the draft's.
static TAKEN_BACK: LazyLock<SpecDirectory> = LazyLock::new(|| {
    let twins = specs::twin_directory();
    imported(&twins, &schema(&twins.spec().unwrap()), &as_draft())
});
static SPEC: LazyLock<Spec> = LazyLock::new(|| TAKEN_BACK.spec().unwrap());
static OPEN: LazyLock<SpecGaps> = LazyLock::new(|| SpecGaps::of(&SPEC));

fn stub<'o>(open: &'o [Decision], place: &str) -> &'o str {
    let found = open.iter().find(|one| one.place == place);
    let asked = found.unwrap_or_else(|| panic!("{place} is not asked about: {open:#?}"));
    &asked.settle.stub
}

#[test]
fn a_core_that_takes_tasks_back_asks_once_for_each_part_of_the_feature() {
    let open = &OPEN.decisions;
    let places: Vec<&str> = open.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "CallToolOutcome|CreateTask",
            "ServerCapabilities.tasks",
            "notifications/tasks",
            "tasks/cancel, tasks/get, tasks/update",
        ]
    );
    // An older peer declares the extension, and its server waits for what a task comes to.
    let capability = stub(open, "ServerCapabilities.tasks");
    for way in ["up", "down"] {
        let entry = "{ entry = { of = \"extensions\", name = \"io.modelcontextprotocol/tasks\" } }";
        says(capability, &format!("{way} = {entry}"));
    }
    says(
        stub(open, "CallToolOutcome|CreateTask"),
        "down = { requires-state = \"tasks\" }",
    );
    says(stub(open, "notifications/tasks"), "action = \"drop\"");
}

#[test]
fn the_proposed_rows_answer_all_that_is_open_once_they_have_their_source() {
    let mut directory = TAKEN_BACK.clone();
    directory.scaffold(&OPEN).unwrap();
    let files = directory.files().iter();
    let filled = files.map(|(name, text)| (name.clone(), specs::filled(text)));
    let spec = Spec::from_files(filled.collect()).unwrap();
    let open = SpecGaps::of(&spec).decisions;
    let of_pairs = open
        .iter()
        .filter(|one| matches!(one.scope, Scope::Pair(_)));
    assert_eq!(of_pairs.collect::<Vec<_>>(), Vec::<&Decision>::new());
}

/// The extension's schema forgets `_meta` of its requests, and so does a core that repeats it: one row mends both.
/// What the draft takes back and a release has is taken back by the release, and two equal schemas are equal.
#[test]
fn a_release_that_takes_tasks_back_is_the_later_core() {
    for through_a_draft in [true, false] {
        let directory = if through_a_draft {
            TAKEN_BACK.clone()
        } else {
            specs::twin_directory()
        };
        let schema = schema(&directory.spec().unwrap());
        let options = ImportOptions {
            revision: "2027-05-01".to_owned(),
            status: Some(mcp_revisions_schema::RevisionStage::Released),
            lifecycle: Some(mcp_revisions_schema::spec::Lifecycle::PerRequest),
            ..ImportOptions::default()
        };
        let spec = imported(&directory, &schema, &options).spec().unwrap();
        let core = extension(&spec).later_core.as_ref().unwrap();
        assert_eq!(core.revision, "2027-05-01");
        let open = SpecGaps::of(&spec).decisions;
        let is_between_equals =
            |one: &Decision| one.scope.to_string().contains("2027-05-01..draft");
        let told: Vec<&Decision> = open.iter().filter(|one| is_between_equals(one)).collect();
        assert!(!through_a_draft || told.is_empty(), "{told:#?}");
        stub(&open, "CallToolOutcome|CreateTask");
        stub(&open, "ServerCapabilities.tasks");
    }
}

#[test]
fn an_erratum_of_the_extension_mends_the_core_that_repeats_the_definition() {
    let draft = SPEC.revision("draft").unwrap();
    let params = |schema: &Value| {
        schema["$defs"]["GetTaskRequest"]["allOf"][1]["properties"]["params"].clone()
    };
    assert_eq!(params(&draft.raw)["properties"].get("_meta"), None);
    assert_eq!(params(&draft.schema), params(&extension(&SPEC).schema));
    assert!(draft.errata.iter().any(|one| one.id == "request-meta"));
    // A core that has the definition otherwise is as it is.
    let mut other = schema(&SPEC);
    let own = &mut other["$defs"]["GetTaskRequest"]["allOf"][1]["properties"]["params"];
    own["properties"]["depth"] = json!({"type": "integer"});
    let directory = imported(&TAKEN_BACK, &other, &as_draft());
    let spec = directory.spec().unwrap();
    let draft = spec.revision("draft").unwrap();
    assert_eq!(params(&draft.schema)["properties"].get("_meta"), None);
    let mended = draft.errata.iter().find(|one| one.id == "request-meta");
    assert_eq!(mended.unwrap().at.len(), 2);
}

/// Lines of an earlier core with a definition of that name do not hide those of the extension.
#[test]
fn definitions_that_the_core_takes_back_have_the_doc_lines_of_the_extension() {
    let models = Models::build(&SPEC).unwrap();
    let open: Vec<String> = (OPEN.undocumented.iter().filter(|one| one.of == "draft"))
        .flat_map(|one| one.names())
        .collect();
    let is_envelope = |name: &String| name.contains("ResultResponse");
    assert!(open.iter().all(is_envelope), "{open:?}");
    let draft = models.get("draft").unwrap();
    let lines = models.docs_of_revision(draft);
    let task = draft.model.get("CreateTaskResult").unwrap();
    says(lines.ty(task).as_str(), "handle in place of the result");
}
