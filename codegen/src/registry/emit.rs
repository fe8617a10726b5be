//! The files of the crate, from templates.

use mcp_schema::sorted::SortedSet;

use minijinja::{Value, context};

use super::features::{self, Feature};
use super::methods::{self, RegistryMethod};
use mcp_schema::names;

use super::VERSION;
use crate::emit::{COMMAND, CrateFiles, header_of, lines, rendered};
use mcp_schema::Error;
use mcp_schema::naming::pascal_case;
use mcp_schema::spec::errors::ErrorRules;
use mcp_schema::spec::{Extension, Lifecycle, Revision, Status};

/// The facts for the crate.
#[derive(Debug)]
pub struct RegistryFacts<'s> {
    /// In the order of `revisions.toml`.
    pub revisions: Vec<RegistryRevision<'s>>,
    /// The types that are converted, each once.
    pub converted: Vec<Converted>,
    /// The features that bring revisions.
    pub features: Vec<Feature>,
    /// What binds a revision besides its schema.
    pub stated: &'s ErrorRules,
    /// The methods of all revisions, each once.
    pub methods: Vec<RegistryMethod<'s>>,
    /// The extensions, in order of their names.
    pub extensions: Vec<&'s Extension>,
}

/// A revision, and its part in conversions.
#[derive(Debug)]
pub struct RegistryRevision<'s> {
    /// The revision.
    pub revision: &'s Revision,
    /// Where it stands among those that are converted; a draft that equals a release stands where that one does.
    pub place: Option<usize>,
    /// Whether it is another one under its own name.
    pub twin: bool,
}

/// Types that take part in conversions.
#[derive(Debug)]
pub struct Converted {
    /// The places in [`RegistryFacts::revisions`] of the revisions that share them, oldest first; one for most.
    pub revisions: Vec<usize>,
    /// Their Rust names.
    pub types: Vec<String>,
}

/// Returns the files of the crate.
///
/// # Errors
/// A list without a release, and templates that do not render.
pub fn crate_files(facts: &RegistryFacts<'_>) -> Result<CrateFiles, Error> {
    let revisions = facts.revisions.iter().map(|of| of.revision);
    let Some(latest) = Revision::of_handlers(revisions) else {
        return Err(Error::file(
            "spec/revisions.toml",
            "no revision is released",
            "handlers are written in a released revision",
            "add one with `cargo xtask spec import FILE --revision ID --status released`",
        ));
    };
    let revisions: Vec<Value> = facts.revisions.iter().map(|of| row(of, facts)).collect();
    let converted: Vec<Value> = facts
        .converted
        .iter()
        .map(|one| {
            let rows = one
                .revisions
                .iter()
                .filter_map(|at| revisions.get(*at))
                .cloned();
            context! { revisions => rows.collect::<Vec<_>>(), types => lines(&one.types) }
        })
        .collect();
    let values = context! {
        command => COMMAND,
        version => VERSION,
        latest => names::variant(&latest.id),
        newest_id => latest.id.as_str(),
        header => header_of(COMMAND, "spec/revisions.toml"),
        revisions,
        converted,
        features => features::rows(&facts.features, |feature| {
            let package = feature.packages().map(|package| format!("dep:{package}"));
            package.chain([format!("mcp-shims/{}", feature.name)]).collect()
        }),
        headers => named(facts.stated.headers.iter().map(|row| row.name.as_str())),
        rules => named(facts.stated.rules.iter().map(|row| row.id.as_str())),
        methods => methods::rows(&facts.methods),
        extensions => facts.extensions.iter().map(|of| extension(of, facts)).collect::<Vec<_>>(),
    };
    rendered("registry", TEMPLATES, &values)
}

fn row(of: &RegistryRevision<'_>, facts: &RegistryFacts<'_>) -> Value {
    let RegistryRevision {
        revision,
        place,
        twin,
    } = of;
    let id = revision.id.as_str();
    let has = |ids: &[String]| ids.iter().any(|other| other == id);
    let lifecycle = match revision.lifecycle {
        Lifecycle::Handshake => "Handshake",
        Lifecycle::PerRequest => "PerRequest",
    };
    let status = match revision.status {
        Status::Released => "Released",
        Status::Candidate => "Candidate",
        Status::Draft => "Draft",
    };
    context! {
        id,
        wire => revision.wire.as_str(),
        lifecycle,
        status,
        package => names::package(id),
        library => names::library(id),
        module => names::module(id),
        constant => names::constant(id),
        variant => names::variant(id),
        // Types of a candidate are for whoever asks for them: nobody speaks it. That of handlers is always there.
        feature => is_optional(&revision.id, facts).then(|| names::feature(id)),
        candidate => revision.status == Status::Candidate,
        before => place.map(|place| before(place, facts)),
        negotiated => negotiated(revision, facts),
        place,
        twin,
        first_of_place => place.is_some() && !twin,
        headers => named(facts.stated.headers.iter().filter(|row| row.used && has(&row.revisions)).map(|row| row.name.as_str())),
        rules => named(facts.stated.rules.iter().filter(|row| has(&row.revisions)).map(|row| row.id.as_str())),
    }
}

fn extension(of: &Extension, facts: &RegistryFacts<'_>) -> Value {
    let package = names::extension_package(&of.name);
    context! {
        library => package.replace('-', "_"),
        package,
        name => of.name.as_str(),
        identifier => of.identifier.as_str(),
        module => names::module(&of.name),
        // It comes with the revision that it rests on.
        feature => is_optional(&of.revision, facts).then(|| names::feature(&of.revision)),
        revision => names::variant(&of.revision),
        core => of.core.as_ref().map(|core| context! {
            id => core.revision.as_str(),
            constant => names::constant(&core.revision),
            gate => features::gate(&facts.features, &[&core.revision, &of.revision]),
        }),
        constant => names::constant(&names::extension(&of.name)),
    }
}

/// Whether a revision is there by a feature alone.
fn is_optional(id: &str, facts: &RegistryFacts<'_>) -> bool {
    let name = names::feature(id);
    let mut always = facts
        .features
        .iter()
        .filter(|feature| feature.package.is_none());
    always.all(|feature| feature.name != name)
}

/// Returns the features of the revisions that stand before a place; `None` for one that is always there.
fn before(place: usize, facts: &RegistryFacts<'_>) -> Vec<Option<String>> {
    let own = facts.revisions.iter().filter(|of| !of.twin);
    let earlier = own.filter(|of| of.place.is_some_and(|other| other < place));
    let feature = |of: &RegistryRevision<'_>| {
        is_optional(&of.revision.id, facts).then(|| names::feature(&of.revision.id))
    };
    earlier.map(feature).collect()
}

/// Names as they stand and as variants, each once, in order.
fn named<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Value> {
    let each: SortedSet<&str> = names.collect();
    each.into_iter()
        .map(|name| context! { name, variant => pascal_case(&name.to_lowercase()) })
        .collect()
}

/// Releases are; candidates never; a draft where no release has its string on the wire.
fn negotiated(revision: &Revision, facts: &RegistryFacts<'_>) -> bool {
    match revision.status {
        Status::Released => true,
        Status::Candidate => false,
        Status::Draft => !facts.revisions.iter().any(|other| {
            other.revision.status == Status::Released && other.revision.wire == revision.wire
        }),
    }
}

/// The templates of the crate.
const TEMPLATES: &[(&str, &str)] = templates![
    "tests/services.rs": "registry/services.rs",
    "Cargo.toml": "registry/Cargo.toml",
    "README.md": "registry/README.md",
    "src/lib.rs": "registry/lib.rs",
    "src/convert.rs": "registry/convert.rs",
    "src/extensions.rs": "registry/extensions.rs",
    "src/methods.rs": "registry/methods.rs",
    "src/revision.rs": "registry/revision.rs",
    "src/stated.rs": "registry/stated.rs",
    "src/spoken.rs": "registry/spoken.rs",
    "src/tables.rs": "registry/tables.rs",
    "src/versioned.rs": "registry/versioned.rs",
];
