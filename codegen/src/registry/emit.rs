//! The files of the crate, from templates.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use minijinja::{Value, context};

use super::VERSION;
use super::features::{self, Feature};
use super::methods;
use crate::emit::{COMMAND, CrateFiles, Once, Set, fragment, header_of, lines, rendered};
use mcp_revisions_schema::names;
use mcp_revisions_schema::naming::pascal_case;
use mcp_revisions_schema::rules::{MistakeTreatment, ModelMistake};
use mcp_revisions_schema::spec::extensions::Core;
use mcp_revisions_schema::spec::{ExtensionSpec, Revision, RevisionStage};
use mcp_revisions_schema::{Error, Models, RevisionModel};

/// Returns the files of the crate; `used` are the types of each revision that take part in conversions. Fails for a list
/// without a release, and templates that do not render.
pub(crate) fn crate_files(
    models: &Models<'_>,
    used: &SortedMap<&str, SortedSet<&str>>,
    features: &[Feature],
    once: &Once,
) -> Result<CrateFiles, Error> {
    let all = models.revisions.iter();
    let Some(latest) = Revision::of_handlers(all.clone().map(|of| of.revision)) else {
        return Err(Error::file(
            "spec/revisions.toml",
            "no revision is released",
            "handlers are written in a released revision",
            "add one with `cargo xtask spec import FILE --revision ID --status released`",
        ));
    };
    let chain = models.chain();
    let revisions: Vec<Value> = all.map(|of| row(of, models, &chain, features)).collect();
    let converted: Vec<Value> = converted(models, &chain, used, once)
        .into_iter()
        .map(|(places, types)| {
            let rows: Vec<Value> = places
                .iter()
                .filter_map(|at| revisions.get(*at).cloned())
                .collect();
            let names: Vec<&str> = types.into_iter().collect();
            context! { revisions => rows, types => lines(&names) }
        })
        .collect();
    let all: Vec<&ExtensionSpec> = models.extensions.iter().map(|of| of.extension).collect();
    let extensions = all.iter().map(|of| extension(of, &all, features));
    let states = all.chunk_by(|a, b| a.folder == b.folder);
    let converted_extensions = states.filter_map(|states| conversions(states, features));
    let later_cores = all.iter().filter_map(|of| later_core(of, &all, features));
    let values = context! {
        command => COMMAND,
        version => VERSION,
        latest => names::variant(&latest.id),
        newest_id => latest.id.as_str(),
        header => fragment(header_of(COMMAND, "spec/revisions.toml")),
        revisions,
        converted,
        features => fragment(features::rows(features, |feature| {
            let package = feature.package.iter().map(|package| format!("dep:{package}"));
            package.chain([format!("mcp-shims/{}", feature.name)]).collect()
        })),
        headers => named(models.stated.headers.iter().map(|row| row.name.as_str())),
        rules => named(models.stated.rules.iter().map(|row| row.id.as_str())),
        methods => methods::rows(models),
        mistakes => models.mistakes.iter().map(mistake).collect::<Vec<_>>(),
        extensions => extensions.collect::<Vec<_>>(),
        converted_extensions => converted_extensions.collect::<Vec<_>>(),
        later_cores => later_cores.collect::<Vec<_>>(),
    };
    rendered("registry", TEMPLATES, &values)
}

/// Returns the types that take part in conversions, each once, by the places of the revisions that share them: one for most.
fn converted<'u>(
    models: &Models<'_>,
    chain: &[&RevisionModel<'_>],
    used: &SortedMap<&str, SortedSet<&'u str>>,
    once: &Once,
) -> SortedMap<Vec<usize>, SortedSet<&'u str>> {
    let mut converted: SortedMap<Vec<usize>, SortedSet<&str>> = SortedMap::new();
    for (at, of) in models.revisions.iter().enumerate() {
        let id = of.revision.id.as_str();
        let sets: Vec<Set<'_>> = once
            .sets()
            .filter(|set| set.revisions.contains(&id))
            .collect();
        for name in used.get(id).into_iter().flatten() {
            let set = sets.iter().find(|set| set.types.contains(*name));
            let has = |id: &str| {
                chain.iter().any(|of| of.revision.id == id)
                    && set.is_some_and(|set| set.revisions.contains(&id))
            };
            let all = models.revisions.iter().enumerate();
            let mut places: Vec<usize> = all
                .filter(|(_, of)| has(&of.revision.id))
                .map(|(at, _)| at)
                .collect();
            if places.is_empty() {
                places.push(at);
            }
            converted.entry(places).or_default().insert(*name);
        }
    }
    converted
}

fn row(
    of: &RevisionModel<'_>,
    models: &Models<'_>,
    chain: &[&RevisionModel<'_>],
    features: &[Feature],
) -> Value {
    let revision = of.revision;
    let id = revision.id.as_str();
    // A draft that equals a release stands where that one does.
    let twin = models.twin(of);
    let own = twin.map_or(id, |twin| &twin.revision.id);
    let place = chain.iter().position(|other| other.revision.id == own);
    // The features of the revisions before it; `None` for one that is always there.
    let before = place.map(|place| {
        let earlier = chain[..place].iter();
        let features = earlier.map(|of| feature(&of.revision.id, features));
        features.collect::<Vec<_>>()
    });
    let has = |ids: &[String]| ids.iter().any(|other| other == id);
    let stated = &models.stated;
    context! {
        id,
        wire => revision.wire.as_str(),
        lifecycle => format!("{:?}", revision.lifecycle),
        status => format!("{:?}", revision.status),
        package => names::package(id),
        library => names::library(id),
        module => names::module(id),
        constant => names::constant(id),
        variant => names::variant(id),
        // Types of a candidate are for whoever asks for them: nobody speaks it. That of handlers is always there.
        feature => feature(id, features),
        candidate => revision.status == RevisionStage::Candidate,
        before,
        negotiated => negotiated(revision, models),
        place,
        twin => twin.is_some(),
        first_of_place => place.is_some() && twin.is_none(),
        headers => named(stated.headers.iter().filter(|row| row.used && has(&row.revisions)).map(|row| row.name.as_str())),
        rules => named(stated.rules.iter().filter(|row| has(&row.revisions)).map(|row| row.id.as_str())),
    }
}

/// Returns a row of the table of mistakes, in Rust.
fn mistake(row: &ModelMistake) -> Value {
    let of: Vec<&str> = row.of.iter().map(String::as_str).collect();
    let fate = match &row.fate {
        MistakeTreatment::Reads(kind, text) => format!("Reads(ValueKind::{kind:?}, {text:?})"),
        MistakeTreatment::EntryReads(kind, text) => {
            format!("EntryReads(ValueKind::{kind:?}, {text:?})")
        }
        // The variants of the table go by the same names.
        other => format!("{other:?}"),
    };
    let member = &row.member;
    fragment(format!(
        "MistakeRow {{ of: &{of:?}, member: {member:?}, fate: MistakeFate::{fate} }}"
    ))
}

/// Returns a state of an extension, among all.
fn extension(of: &ExtensionSpec, all: &[&ExtensionSpec], features: &[Feature]) -> Value {
    let package = names::extension_package(&of.name);
    let is_released = |one: &ExtensionSpec| one.status() == RevisionStage::Released;
    let same: Vec<&ExtensionSpec> = (all.iter().copied())
        .filter(|one| one.folder == of.folder)
        .collect();
    let last = same.iter().rev();
    let last = last
        .copied()
        .find(|one| is_released(one) && one.revision == of.revision);
    context! {
        library => package.replace('-', "_"),
        package,
        name => of.name.as_str(),
        state => of.state.as_str(),
        status => format!("{:?}", of.status()),
        stage => of.stage.map(|stage| format!("{stage:?}")),
        stage_since => of.stage_since.as_deref(),
        lifecycle => of.lifecycle.map(|lifecycle| format!("{lifecycle:?}")),
        is_latest => last.is_some_and(|last| last.state == of.state).to_string(),
        roles => vec![of.roles.client.clone(), of.roles.server.clone()],
        identifier => of.identifier.as_str(),
        module => names::module(&of.name),
        feature => names::extension(&of.name),
        revision => names::variant(&of.revision),
        constant => names::constant(&names::extension(&of.folder)),
        others => others(of, &same, features).map(fragment),
        later => later_core(of, all, features),
    }
}

/// Returns the later core that took back the feature of a state, and what leads up to it; `None` if there is none.
fn later_core(of: &ExtensionSpec, all: &[&ExtensionSpec], features: &[Feature]) -> Option<Value> {
    let core = of.later_core.as_ref()?;
    let own = all.iter().filter(|one| one.folder == of.folder);
    let last = own.clone().position(|one| one.state == of.state)?;
    let states: Vec<&&ExtensionSpec> = own.take(last + 1).collect();
    let earlier = states.iter().find_map(|one| one.core.as_ref());
    let before = earlier.map(|core| core_row(core, features));
    let rows = states.iter().map(|one| {
        context! {
            name => one.name.as_str(),
            library => names::extension_package(&one.name).replace('-', "_"),
            feature => names::extension(&one.name),
        }
    });
    Some(context! {
        name => of.name.as_str(),
        constant => names::constant(&names::extension(&of.folder)),
        before,
        states => rows.collect::<Vec<_>>(),
        extension => names::extension(&of.name),
        id => core.revision.as_str(),
        core => names::constant(&core.revision),
        feature => feature(&core.revision, features),
    })
}

/// Returns the condition under which there is something that the messages of a state are converted from or to: a core that had
/// its feature, or another of these states. `None` if that is there anyway, and an empty text if it never is.
fn others(of: &ExtensionSpec, states: &[&ExtensionSpec], features: &[Feature]) -> Option<String> {
    let core = match states.iter().find_map(|one| one.core.as_ref()) {
        Some(core) => Some(feature(&core.revision, features)?),
        None => None,
    };
    let others = states
        .iter()
        .filter(|one| one.state != of.state)
        .map(|one| names::extension(&one.name));
    let all: Vec<String> = core
        .into_iter()
        .chain(others)
        .map(|name| format!("feature = \"{name}\""))
        .collect();
    Some(match &all[..] {
        [] => String::new(),
        [one] => one.clone(),
        all => format!("any({})", all.join(", ")),
    })
}

/// Returns the protocols that the messages of an extension are converted from and to, by its states; `None` if there are none.
fn conversions(states: &[&ExtensionSpec], features: &[Feature]) -> Option<Value> {
    let first = states.first()?;
    let core = first.core.as_ref();
    if core.is_none() && states.len() < 2 {
        return None;
    }
    let rows = states.iter().map(|of| {
        let library = names::extension_package(&of.name).replace('-', "_");
        // The table of all is used by a state beside which there is something else.
        let feature = names::extension(&of.name);
        let used = match others(of, states, features) {
            Some(others) => format!("all(feature = \"{feature}\", {others})"),
            None => format!("feature = \"{feature}\""),
        };
        context! { name => of.name.as_str(), feature, library, used => fragment(used) }
    });
    Some(context! {
        name => first.folder.as_str(),
        constant => names::constant(&names::extension(&first.folder)),
        core => core.map(|core| core_row(core, features)),
        states => rows.collect::<Vec<_>>(),
    })
}

/// Returns the revision whose core had the feature of an extension.
fn core_row(core: &Core, features: &[Feature]) -> Value {
    context! {
        id => core.revision.as_str(),
        constant => names::constant(&core.revision),
        feature => feature(&core.revision, features),
    }
}

/// Returns the feature by which a revision is there; `None` for one that is always there.
fn feature(id: &str, features: &[Feature]) -> Option<String> {
    let name = names::feature(id);
    let mut always = features.iter().filter(|feature| feature.package.is_none());
    always.all(|feature| feature.name != name).then_some(name)
}

/// Names as they stand and as variants, each once, in order.
fn named<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Value> {
    let each: SortedSet<&str> = names.collect();
    each.into_iter()
        .map(|name| context! { name, variant => pascal_case(&name.to_lowercase()) })
        .collect()
}

/// Releases are; candidates never; a draft where no release has its string on the wire.
fn negotiated(revision: &Revision, models: &Models<'_>) -> bool {
    match revision.status {
        RevisionStage::Released => true,
        RevisionStage::Candidate => false,
        RevisionStage::Draft => !models.revisions.iter().any(|other| {
            other.revision.status == RevisionStage::Released && other.revision.wire == revision.wire
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
