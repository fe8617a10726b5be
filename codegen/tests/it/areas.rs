//! Where the types live that several areas use, once there are more of them than one file has room for.

use mcp_codegen::generate::revision_crate;
use std::collections::BTreeMap;

use mcp_schema::Models;
use mcp_schema::Spec;
use serde_json::{Map, Value, json};

/// A spec whose draft has more types: each family a head that tools and prompts hold, and parts that the head holds.
fn spec(families: &[(&str, usize)]) -> Spec {
    let mut spec = crate::specs::twin();
    let mut all = spec.revisions.iter_mut();
    let draft = all.find(|revision| revision.id == "draft").unwrap();
    for (head, parts) in families {
        let mut members = Map::new();
        for part in 0..*parts {
            let inner = (0..10).map(|member| (format!("m{member}"), json!({ "type": "string" })));
            let inner: Map<String, Value> = inner.collect();
            let name = format!("{head}Part{part}");
            members.insert(
                format!("p{part}"),
                json!({ "$ref": format!("#/$defs/{name}") }),
            );
            draft.schema["$defs"][name] = json!({ "type": "object", "properties": inner });
        }
        draft.schema["$defs"][*head] = json!({ "type": "object", "properties": members });
        for holder in ["Tool", "Prompt"] {
            let reference = json!({ "$ref": format!("#/$defs/{head}") });
            draft.schema["$defs"][holder]["properties"][head.to_lowercase()] = reference;
        }
    }
    spec
}

/// The area of each type of the draft.
fn areas(models: &Models<'_>) -> BTreeMap<String, String> {
    let types = models.get("draft").unwrap().model.types.values();
    types
        .map(|def| (def.name.clone(), def.area.clone()))
        .collect()
}

#[test]
fn a_family_that_makes_the_shared_file_too_long_has_a_file_of_its_own() {
    let spec = spec(&[("Panel", 12), ("Chart", 5)]);
    let models = Models::build(&spec).unwrap();
    let areas = areas(&models);
    for (name, area) in [
        ("Panel", "shared_panel"),
        ("PanelPart0", "shared_panel"),
        ("PanelPart11", "shared_panel"),
        // With the largest family gone there is room for the next one.
        ("Chart", "shared"),
        ("ChartPart4", "shared"),
        ("ContentBlock", "shared"),
        ("Tool", "tools"),
    ] {
        assert_eq!(areas[name], area, "{name}");
    }
    // A type lives in the same file in every revision.
    for of in &models.revisions {
        for def in of.model.types.values() {
            if let Some(area) = areas.get(&def.name) {
                assert_eq!(def.area, *area, "{} of {}", def.name, of.revision.id);
            }
        }
    }
    let files = revision_crate(&models, "draft").unwrap().files;
    let holds = |file: &str, name: &str| files[file].contains(&format!("pub struct {name} "));
    assert!(holds("src/shared_panel.rs", "Panel") && holds("src/shared_panel.rs", "PanelPart7"));
    assert!(!holds("src/shared.rs", "Panel") && holds("src/shared.rs", "Chart"));
    assert!(files["src/lib.rs"].contains("mod shared_panel;"));
}

#[test]
fn no_shared_file_outgrows_three_thousand_lines() {
    let spec = spec(&[
        ("Panel", 20),
        ("Chart", 20),
        ("Table", 19),
        ("Board", 14),
        ("Sheet", 10),
    ]);
    let models = Models::build(&spec).unwrap();
    let files = revision_crate(&models, "draft").unwrap().files;
    let lines: BTreeMap<&str, usize> = (files.iter())
        .filter(|(path, _)| path.contains("shared"))
        .map(|(path, text)| (path.as_str(), text.lines().count()))
        .collect();
    assert!(lines.len() >= 8, "{lines:?}");
    assert!(lines.values().all(|lines| *lines < 3_000), "{lines:?}");
    assert!(lines["src/shared.rs"] > 500, "{lines:?}");
}

#[test]
fn while_there_is_room_nothing_moves() {
    let small = spec(&[("Panel", 3)]);
    let models = Models::build(&small).unwrap();
    assert_eq!(areas(&models)["PanelPart2"], "shared");
    assert!(
        !areas(&models)
            .values()
            .any(|area| area.starts_with("shared_"))
    );
}
