//! The spec of this workspace, its models, and the world of its conversions, each made once for all tests.

use std::sync::LazyLock;

use mcp_revisions_schema::{Models, Spec};
use mcp_tests::root;
use mcp_tests::shims::world::World;

static SPEC: LazyLock<Spec> = LazyLock::new(|| Spec::read(&root().join("spec")).unwrap());
static MODELS: LazyLock<Models<'static>> = LazyLock::new(|| Models::build(&SPEC).unwrap());
static WORLD: LazyLock<World<'static>> = LazyLock::new(|| World::new(&SPEC, &MODELS).unwrap());

/// The spec in the folder `spec/`.
pub(crate) fn spec() -> &'static Spec {
    &SPEC
}

/// Its models.
pub(crate) fn models() -> &'static Models<'static> {
    &MODELS
}

/// What is converted, with the judge of each side and the plan of each pair.
pub(crate) fn world() -> &'static World<'static> {
    &WORLD
}
