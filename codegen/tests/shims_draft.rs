//! A draft beside the newest release: what is planned between the two.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says what it found and stops"
)]

use std::path::Path;

use mcp_codegen::Spec;
use mcp_codegen::generate::Models;
use mcp_codegen::model::{Shape, Union};
use mcp_codegen::shims::plan::{Arm, Body, End};
use mcp_codegen::shims::{Pair, Way};
use mcp_codegen::spec::rules::RuleFile;

fn spec() -> Spec {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Spec::read(&root.join("spec")).unwrap()
}

/// A union that keeps unknown methods keeps them on the way to the neighbour, too.
#[test]
fn unions_open_on_both_sides_carry_what_neither_knows() {
    let spec = spec();
    let models = Models::build(&spec).unwrap();
    let pair = Pair::new("2026-07-28", "draft");
    let plan = models.plan_pair(&spec, &pair, RuleFile::default()).unwrap();
    let model = &models.get("draft").unwrap().model;
    let mut open = 0;
    for way in Way::BOTH {
        for one in plan.way(way) {
            let (End::Type(name), Body::Union(arms)) = (&one.from, &one.body) else {
                continue;
            };
            let Some(Shape::Union(union)) = model.get(name).map(|def| &def.shape) else {
                panic!("{name} is no union");
            };
            let known = union.variants.iter().map(|variant| variant.name.as_str());
            let unknown = union.open.then_some(Union::UNKNOWN);
            let wanted: Vec<&str> = known.chain(unknown).collect();
            let found: Vec<&str> = arms.iter().map(|arm| arm.variant.as_str()).collect();
            assert_eq!(found, wanted, "{name} on the way {way}");
            let kept = arms.iter().all(|arm| matches!(arm.arm, Arm::Same { .. }));
            assert!(kept, "{name} on the way {way}");
            open += usize::from(union.open);
        }
    }
    assert!(open >= 2, "{open} open unions");
}
