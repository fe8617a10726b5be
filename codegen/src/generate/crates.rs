//! The crates that are made of the models of all revisions: types, conversions, the registry.

use std::collections::BTreeMap;

use mcp_schema::docs::TypeDocs;
use mcp_schema::files::Section;
use mcp_schema::names::package;
use mcp_schema::shims::PairPlan;
use mcp_schema::spec::errors::ErrorRules;
use mcp_schema::{Error, Models, Revision, RevisionModel, Status};

use super::{COMMAND, Crate};
use crate::emit::{CrateFacts, crate_files, reexport_files};
use crate::registry::features::{Link, features, rows};
use crate::registry::{self, RegistryFacts, RegistryMethod, RegistryRevision, VERSION};
use crate::shims::{self, ShimFacts, ShimRevision};

/// Emits the crate of one revision.
///
/// # Errors
/// An unknown revision, and whatever the emitters refuse.
pub fn revision_crate(models: &Models<'_>, id: &str) -> Result<Crate, Error> {
    let of = models.get(id)?;
    let RevisionModel {
        revision,
        model,
        decisions,
    } = of;
    let facts = facts_of(revision, &models.stated);
    // A draft that says what a released revision says is that revision.
    if let Some(twin) = models.twin(of) {
        let of = facts_of(twin.revision, &models.stated);
        return Ok(Crate {
            files: reexport_files(&facts, &of)?,
            package: facts.package,
            revision: Some(facts.revision),
            types: model.types.len(),
            methods: model.methods.len(),
            reexports: Some(of.package),
            decisions: decisions.clone(),
        });
    }
    let docs = TypeDocs {
        docs: &models.docs,
        revision: &revision.id,
        reference: &revision.reference,
        prose: &BTreeMap::new(),
    };
    Ok(Crate {
        files: crate_files(model, &docs, &facts)?,
        package: facts.package,
        revision: Some(facts.revision),
        types: model.types.len(),
        methods: model.methods.len(),
        reexports: None,
        decisions: decisions.clone(),
    })
}

/// Emits the crate of conversions.
///
/// # Errors
/// Whatever the emitters refuse.
pub fn shims_crate(models: &Models<'_>, plans: &[PairPlan]) -> Result<Crate, Error> {
    let conversions = plans
        .iter()
        .map(|plan| plan.up.len() + plan.down.len())
        .sum();
    Ok(Crate {
        package: "mcp-shims".to_owned(),
        revision: None,
        types: conversions,
        methods: plans.iter().map(|plan| plan.methods.len()).sum(),
        reexports: None,
        decisions: plans.iter().flat_map(|plan| plan.open.clone()).collect(),
        files: shims::crate_files(plans, &shim_facts(models))?,
    })
}

/// Emits the crate that says which revisions there are.
///
/// # Errors
/// A list without a release.
pub fn registry_crate(models: &Models<'_>, plans: &[PairPlan]) -> Result<Crate, Error> {
    let shim_facts = shim_facts(models);
    let used = shims::used(plans, &shim_facts);
    let chain = models.chain();
    let place = |id: &str| chain.iter().position(|other| other.revision.id == id);
    let revisions = models.revisions.iter().map(|of| {
        let twin = models.twin(of);
        let id = of.revision.id.as_str();
        let types = used.get(id).into_iter().flatten();
        RegistryRevision {
            revision: of.revision,
            place: place(twin.map_or(id, |twin| &twin.revision.id)),
            twin: twin.is_some(),
            types: types.map(|name| (*name).to_owned()).collect(),
        }
    });
    let facts = RegistryFacts {
        command: COMMAND.to_owned(),
        revisions: revisions.collect(),
        features: features(&links(models)),
        stated: &models.stated,
        methods: methods(models).collect(),
    };
    Ok(Crate {
        package: "mcp-registry".to_owned(),
        revision: None,
        types: used.values().map(|types| types.len()).sum(),
        methods: 0,
        reexports: None,
        decisions: Vec::new(),
        files: registry::crate_files(&facts)?,
    })
}

/// What manifests that people write say of each revision: the facade's features, and what hooks depend on.
pub fn sections(models: &Models<'_>) -> Vec<Section> {
    let features = features(&links(models));
    let section = |path: &str, name, text| Section {
        path: path.to_owned(),
        name,
        text,
    };
    let facade = rows(&features, |feature| {
        vec![format!("mcp-registry/{}", feature.name)]
    });
    let hooks = rows(&features, |feature| {
        (feature.package.iter())
            .map(|package| format!("dep:{package}"))
            .collect()
    });
    let dependencies = features.iter().zip(links(models)).map(|(feature, link)| {
        let (package, optional) = (package(link.id), match feature.package {
            Some(_) => ", optional = true",
            None => "",
        });
        format!(
            "{package} = {{ path = \"../../generated/{package}\", version = \"{VERSION}\"{optional} }}\n"
        )
    });
    vec![
        section("runtime/Cargo.toml", "a feature a revision", facade),
        section("runtime/hooks/Cargo.toml", "a feature a revision", hooks),
        section(
            "runtime/hooks/Cargo.toml",
            "the revisions",
            dependencies.collect(),
        ),
    ]
}

/// The methods of each revision, oldest revision first.
fn methods<'m>(models: &'m Models<'_>) -> impl Iterator<Item = RegistryMethod<'m>> {
    models.revisions.iter().flat_map(|of| {
        let revision = of.revision.id.as_str();
        let methods = of.model.methods.iter();
        methods.map(move |method| RegistryMethod {
            name: &method.name,
            revision,
        })
    })
}

fn shim_facts<'m>(models: &'m Models<'_>) -> ShimFacts<'m> {
    let revisions = models.chain().into_iter().map(|of| ShimRevision {
        id: of.revision.id.clone(),
        model: &of.model,
    });
    ShimFacts {
        command: COMMAND.to_owned(),
        revisions: revisions.collect(),
        features: features(&links(models)),
    }
}

/// The revisions that are converted, and those that are one of them under another name, in order.
fn links<'m>(models: &'m Models<'_>) -> Vec<Link<'m>> {
    let chain = models.chain();
    let newest = (chain.iter()).rfind(|of| of.revision.status == Status::Released);
    let newest = newest.map(|of| of.revision.id.as_str());
    let part = |of: &&RevisionModel<'_>| of.revision.status != Status::Candidate;
    let links = models.revisions.iter().filter(part).map(|of| Link {
        id: &of.revision.id,
        newest: newest == Some(&of.revision.id),
        twin: models.twin(of).is_some(),
    });
    links.collect()
}

fn facts_of(revision: &Revision, stated: &ErrorRules) -> CrateFacts {
    CrateFacts {
        package: package(&revision.id),
        revision: revision.id.clone(),
        wire: revision.wire.clone(),
        era: revision.era.as_str().to_owned(),
        source: format!("spec/{}/schema.json", revision.id),
        sha256: revision.sha256.clone(),
        command: COMMAND.to_owned(),
        wire_dependency: None,
        deprecated: stated.deprecated(&revision.id),
    }
}
