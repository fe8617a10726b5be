//! Many changes at once, emitted, compiled with warnings denied, and held to the laws on sampled values.

use mcp_codegen::emit::Once;
use mcp_codegen::generate::{revision_crate, shims_crate};
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::fmt::Write as _;

use mcp_codegen::generate::Crate;
use mcp_revisions_plans::plan::{PairEnd, PairPlan};
use mcp_revisions_schema::docs::Docs;
use mcp_revisions_schema::pair::{RevisionPair, StepDirection};
use mcp_revisions_schema::spec::changes::ProseChanges;
use mcp_revisions_schema::spec::errors::ErrorRules;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{Revision, RevisionStage};
use mcp_revisions_schema::{Models, RevisionModel};
use serde_json::Value;

use crate::changes::apply;
use crate::changes::random::{KINDS, Random, change};
use crate::mutants::{Maker, sample};
use crate::workspace::{Workspace, repository};

/// How many changes go into one schema.
const CHANGES: usize = 110;
/// How many types of a pair are held to the laws, and on how many values each.
const TYPES: usize = 70;
const VALUES: usize = 6;

/// Objects whose unknown members are of types that change: an object, and a list of objects.
const TYPED: &str = "put Icon/additionalProperties \"@Annotations\"
put Root/additionalProperties {\"type\": \"array\", \"items\": \"@Annotations\"}";

/// What the tests of the compiled crates begin with: a conversion that loses nothing comes back as it went.
const LAW: &str = r#"#![cfg(test)]
use mcp_shims::{Context, Outcome, PAIRS, TypeStep};
use mcp_wire::{AnyValue, Decode, Encode};

fn converted<A: Decode + Encode + 'static, B: Decode + 'static>(steps: &[TypeStep], [from, to]: [&str; 2], value: A) -> Outcome<B> {
    let step = steps.iter().find(|step| step.from == from && step.to == to).expect(from);
    let mut cx = Context::default();
    let result = step.convert(AnyValue::new(value), &mut cx);
    cx.finish(result.map(|mut value| value.take::<B>().expect(to)))
}

fn comes_back<A, B>([there, back]: [&[TypeStep]; 2], [one, other]: [&str; 2], texts: &[&str]) -> usize
where
    A: Decode + Encode + Clone + PartialEq + std::fmt::Debug + 'static,
    B: Decode + Encode + 'static,
{
    let mut kept = 0;
    for text in texts {
        let Ok(value) = mcp_wire::from_str::<A>(text) else { continue };
        let carried = converted::<A, B>(there, [one, other], value.clone());
        if !carried.is_exact() {
            continue;
        }
        let Some(carried) = carried.value() else { continue };
        let written = mcp_wire::to_string(&carried);
        let read: B = mcp_wire::from_str(&written).expect(&written);
        // Where members tell choices apart, it may be another choice there: the text is the same.
        assert_eq!(mcp_wire::to_string(&read), written, "{text} is not valid there");
        let returned = converted::<B, A>(back, [other, one], carried);
        assert!(returned.is_exact(), "{text} lost something on the way back: {returned:?}");
        assert_eq!(returned.value(), Some(value), "{text}");
        kept += 1;
    }
    kept
}
"#;

/// A schema with as many changes as it takes, and how many that were.
fn changed(maker: &Maker, base: &Revision, seed: u64) -> (Value, usize) {
    let mut random = Random::new(seed);
    let mut schema = base.schema.clone();
    let mut made = 0;
    for at in 0..CHANGES * 2 {
        let mut next = schema.clone();
        let kind = &KINDS[at % KINDS.len()];
        let Some(steps) = change(kind, &mut next, &mut random) else {
            continue;
        };
        // A choice whose tag is any text is what no other choice says (`union-by-tag`): with their tags, its texts
        // are theirs, and the same law cannot hold of them.
        let frees_a_tag = kind.0 == "constant freed" && steps.contains("/properties/type ");
        if !frees_a_tag && maker.model(&next, &base.id).is_some() {
            schema = next;
            made += 1;
        }
        if made == CHANGES {
            break;
        }
    }
    (schema, made)
}

/// A generated crate whose manifest finds the hand-written crates, and leaves out those that it does not use, with the
/// features that would bring them.
pub(crate) fn placed(mut one: Crate) -> Crate {
    let runtime = repository().join("runtime").display().to_string();
    let text = one.files.get_mut("Cargo.toml").unwrap();
    let mut manifest: toml::Table = text.replace("../../runtime", &runtime).parse().unwrap();
    let dependencies = manifest["dependencies"].as_table_mut().unwrap();
    dependencies.remove("mcp-hooks");
    let features = manifest
        .get_mut("features")
        .and_then(|it| it.as_table_mut());
    for (_, brings) in features.into_iter().flatten() {
        let brings = brings.as_array_mut().unwrap();
        brings.retain(|it| !it.as_str().unwrap().starts_with("mcp-hooks/"));
    }
    *text = manifest.to_string();
    one
}

/// The tests of a pair: a call for each type that can go and come.
fn laws(plan: &PairPlan, models: &Models<'_>, random: &mut Random) -> String {
    let library = |id: &str| format!("mcp_{}", id.replace('-', "_"));
    let mut text = String::new();
    for way in StepDirection::BOTH {
        let steps = way.of("[pair.up, pair.down]", "[pair.down, pair.up]");
        let [from, to] = plan.pair.ends(way);
        let model = &models.get(from).unwrap().model;
        let back: SortedSet<(&PairEnd, &PairEnd)> = (plan
            .way(way.of(StepDirection::Down, StepDirection::Up))
            .iter())
        .map(|one| (&one.from, &one.to))
        .collect();
        let mut names: Vec<[&str; 2]> = (plan.way(way).iter())
            .filter(|one| back.contains(&(&one.to, &one.from)))
            .filter_map(|one| match (&one.from, &one.to) {
                (PairEnd::Type(from), PairEnd::Type(to)) => Some([from.as_str(), to.as_str()]),
                _ => None,
            })
            .collect();
        while names.len() > TYPES {
            names.swap_remove(random.below(names.len()));
        }
        let name = format!("{}_{way}", to.replace('-', "_"));
        let _ = writeln!(
            text,
            "#[test]\nfn v{name}() {{\n    let pair = PAIRS.iter().find(|pair| pair.new == {:?}).unwrap();\n    let steps = {steps};\n    let mut kept = 0;",
            plan.pair.new
        );
        for [one, other] in names {
            let texts: Vec<String> = (0..VALUES)
                .map(|_| sample::named(model, one, random, 0).to_string())
                .collect();
            let (from, to) = (library(from), library(to));
            let _ = writeln!(
                text,
                "    kept += comes_back::<{from}::{one}, {to}::{other}>(steps, [{one:?}, {other:?}], &{texts:?});"
            );
        }
        let _ = writeln!(
            text,
            "    assert!(kept > {TYPES}, \"{{kept}} values came back\");\n}}"
        );
    }
    text
}

#[test]
fn all_changes_together_compile_and_hold_the_laws() {
    let maker = Maker::new();
    let mut revisions: Vec<Revision> = Vec::new();
    let mut pairs = Vec::new();
    let mut made = 0;
    for (at, id) in ["2025-11-25", "2026-07-28"].into_iter().enumerate() {
        let mut base = maker.spec.revision(id).unwrap().clone();
        apply(&mut base.schema, TYPED);
        let (schema, changes) = changed(&maker, &base, at as u64);
        made += changes;
        let mut mutant = base.clone();
        mutant.id = format!("mutant-of-{id}");
        mutant.status = RevisionStage::Draft;
        mutant.schema = schema;
        pairs.push(RevisionPair::new(id, mutant.id.as_str()));
        revisions.extend([base, mutant]);
    }
    assert!(made >= 200, "{made} changes");
    let models = Models {
        revisions: (revisions.iter())
            .map(|revision| RevisionModel {
                revision,
                // Rules go by the revision that it was made from.
                model: (maker.model(
                    &revision.schema,
                    revision.id.trim_start_matches("mutant-of-"),
                ))
                .unwrap(),
                decisions: Vec::new(),
            })
            .collect(),
        extensions: Vec::new(),
        docs: Docs::read(&maker.spec.rules).unwrap(),
        extension_docs: SortedMap::new(),
        stated: ErrorRules::read(maker.spec).unwrap(),
        changes: ProseChanges::default(),
        mistakes: Vec::new(),
        texts: &maker.spec.rules,
    };
    let plan = |pair| mcp_revisions_plans::plan_pair(&models, pair, RuleFile::default()).unwrap();
    let plans: Vec<PairPlan> = pairs.iter().map(plan).collect();
    let once = Once::default();
    let mut workspace = Workspace::new("mutants");
    let mut uses = Vec::new();
    let types = revisions
        .iter()
        .map(|revision| revision_crate(&models, &revision.id));
    for one in types.chain([shims_crate(&models, &plans, &once)]) {
        let one = placed(one.unwrap());
        let folder = format!("generated/{}", one.package);
        workspace.add(&folder, &one);
        uses.push((one.package, folder));
    }
    let mut random = Random::new(7);
    let tests: String = plans
        .iter()
        .map(|plan| laws(plan, &models, &mut random))
        .collect();
    workspace.add_user("laws", &uses, &format!("{LAW}{tests}"));
    if let Err(told) = workspace.cargo(&["test", "--package", "laws"]) {
        panic!("{told}");
    }
}
