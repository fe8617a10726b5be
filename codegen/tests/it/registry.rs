//! The crate that says which revisions there are: the features that bring them, and the constants of methods.

use mcp_codegen::emit::Once;
use mcp_codegen::generate::registry_crate;
use mcp_codegen::registry::features::{features, gate, rows};
use mcp_revisions_schema::spec::ExtensionSpec;
use mcp_revisions_schema::{Models, Spec};
use serde_json::json;

use crate::specs::{files, released};

/// The state of an extension that handlers are written in.
fn state(name: &str, revision: &str) -> ExtensionSpec {
    ExtensionSpec {
        name: name.to_owned(),
        folder: name.to_owned(),
        revision: revision.to_owned(),
        ..ExtensionSpec::default()
    }
}

#[test]
fn each_feature_implies_the_next_one_on_the_way_to_that_of_handlers() {
    let chain = [
        ("2027-01-01", false),
        ("2027-02-02", false),
        ("2027-03-03", true),
        ("draft", false),
        ("later", false),
    ];
    let extensions = [
        state("dice", "draft"),
        state("tasks", "2027-03-03"),
        ExtensionSpec {
            name: "tasks@draft".to_owned(),
            ..state("tasks", "2027-03-03")
        },
    ];
    let extensions: Vec<&ExtensionSpec> = extensions.iter().collect();
    let made = rows(&features(&chain, &extensions), |feature| {
        let package = feature.package.iter();
        package.map(|package| format!("dep:{package}")).collect()
    });
    assert_eq!(
        made,
        "default = [\"v2027-01-01\", \"later\", \"ext-dice\", \"ext-tasks\"]\n\
         v2027-01-01 = [\"v2027-02-02\", \"dep:mcp-2027-01-01\"]\n\
         v2027-02-02 = [\"v2027-03-03\", \"dep:mcp-2027-02-02\"]\n\
         v2027-03-03 = []\n\
         draft = [\"v2027-03-03\", \"dep:mcp-draft\"]\n\
         later = [\"draft\", \"dep:mcp-later\"]\n\
         ext-dice = [\"draft\", \"dep:mcp-ext-dice\"]\n\
         ext-tasks = [\"dep:mcp-ext-tasks\"]\n\
         ext-tasks-draft = [\"ext-tasks\", \"dep:mcp-ext-tasks-draft\"]\n\
         extensions = [\"ext-dice\", \"ext-tasks\", \"ext-tasks-draft\"]\n"
    );
    let one = rows(&features(&[("2027-01-01", true)], &[]), |_| Vec::new());
    assert_eq!(one, "default = [\"v2027-01-01\"]\nv2027-01-01 = []\n");
}

#[test]
fn what_needs_two_revisions_needs_the_features_of_both() {
    let chain = [
        ("2027-01-01", false),
        ("2027-03-03", true),
        ("draft", false),
    ];
    let features = features(&chain, &[&state("tasks", "2027-03-03")]);
    let gate = |ids: &[&str]| gate(&features, ids);
    assert_eq!(gate(&["2027-03-03"]), None);
    let one = Some("feature = \"v2027-01-01\"".to_owned());
    assert_eq!(gate(&["2027-01-01", "2027-03-03"]), one);
    let both = "all(feature = \"v2027-01-01\", feature = \"draft\")";
    assert_eq!(gate(&["2027-01-01", "draft"]).as_deref(), Some(both));
    let both = "all(feature = \"v2027-01-01\", feature = \"ext-tasks\")";
    assert_eq!(gate(&["2027-01-01", "ext-tasks"]).as_deref(), Some(both));
}

#[test]
fn methods_that_differ_by_signs_alone_have_constants_of_their_own() {
    let methods = ["logging/setLevel", "logging/set_level", "2/go"];
    let notifications = ["OneNotification", "OtherNotification", "GoNotification"];
    let messages = notifications.iter().zip(methods).map(|(name, method)| {
        let properties = json!({ "method": { "const": method, "type": "string" } });
        let message = json!({ "properties": properties, "required": ["method"], "type": "object" });
        ((*name).to_owned(), message)
    });
    let reference = |name: &&str| json!({ "$ref": format!("#/$defs/{name}") });
    let all: Vec<_> = notifications.iter().map(reference).collect();
    let all = ("ClientNotification".to_owned(), json!({ "anyOf": all }));
    let defs: serde_json::Map<_, _> = messages.chain([all]).collect();
    let schema =
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs });
    let spec = Spec::from_files(files(&[
        ("revisions.toml", &released(&["one"])),
        ("one/schema.json", &schema.to_string()),
        // A file cannot be named `2`, so the row names the area of this method.
        ("methods.toml", "[areas]\n\"2/go\" = \"n2\"\n"),
    ]));
    let spec = spec.unwrap();
    let models = Models::build(&spec).unwrap();
    let made = registry_crate(&models, &[], &Once::default()).unwrap();
    for (constant, method) in [
        ("LOGGING_SET_LEVEL", "logging/setLevel"),
        ("LOGGING_SET_LEVEL_2", "logging/set_level"),
        ("N2_GO", "2/go"),
    ] {
        let line = format!("pub const {constant}: &str = {method:?};");
        crate::says(&made.files["src/methods.rs"], &line);
    }
}
