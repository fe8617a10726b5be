//! The crates that are made of the models of all revisions: types, conversions, the registry.

use mcp_revisions_schema::sorted::SortedSet;

use crate::files::Section;
use mcp_revisions_plans::PairPlan;
use mcp_revisions_schema::names::{extension_package, package};
use mcp_revisions_schema::spec::errors::ErrorRules;
use mcp_revisions_schema::{Error, ExtensionModel, Models, Revision, RevisionModel, RevisionStage};

use super::Crate;
use mcp_revisions_schema::spec::ExtensionSpec;

use crate::emit::{
    COMMAND, CrateFacts, ExtensionFacts, Once, Pieces, Reused, crate_files, pieces, reexport_files,
    shared_files,
};
use crate::registry::features::{Feature, features, rows};
use crate::registry::{self, VERSION};
use crate::shims::{self, ShimFacts};

/// Emits the crate of one revision by itself: no type of it is shared. Fails for an unknown revision, and everything that the
/// emitters refuse.
pub fn revision_crate(models: &Models<'_>, id: &str) -> Result<Crate, Error> {
    let of = models.get(id)?;
    let pieces = pieces_of(models, of)?;
    one_crate(models, of, &pieces, &Once::default())
}

/// Emits the crates of all revisions, and the one of the types that published ones share; returns which those are.
pub fn type_crates(models: &Models<'_>) -> (Vec<Result<Crate, Error>>, Once) {
    let mut errors = Vec::new();
    let all = (models.revisions.iter()).map(|of| Ok((of, pieces_of(models, of)?)));
    let all = Error::apart(all, &mut errors);
    let mut made: Vec<Result<Crate, Error>> = errors.into_iter().map(Err).collect();
    // A draft moves: what it has in common with a release is not fixed.
    let firm = |(of, _): &&(&RevisionModel<'_>, Pieces)| of.revision.status != RevisionStage::Draft;
    let firm: Vec<(&str, &str, &Pieces)> = (all.iter().filter(firm))
        .map(|(of, pieces)| (of.revision.id.as_str(), of.revision.wire.as_str(), pieces))
        .collect();
    let once = Once::find(&firm);
    let find = |id: &str| firm.iter().find(|(of, ..)| *of == id);
    let shared = || {
        Ok(Crate {
            package: "mcp-shared".to_owned(),
            types: once.sets().map(|set| set.types.len()).sum(),
            files: shared_files(&once, |id| find(id).map(|(.., pieces)| *pieces))?,
            ..Crate::default()
        })
    };
    let crates = all
        .iter()
        .map(|(of, pieces)| one_crate(models, of, pieces, &once));
    made.extend(crates);
    made.push(shared());
    // The states of the extension at hand that are released, with what was emitted for each.
    let mut older: Vec<(&ExtensionModel<'_>, Pieces)> = Vec::new();
    for of in &models.extensions {
        older.retain(|(other, _)| other.extension.folder == of.extension.folder);
        let mut bases = all.iter();
        let base = bases.find(|(base, _)| base.revision.id == of.extension.revision);
        let Some((base, base_pieces)) = base else {
            continue;
        };
        match pieces(&of.model, &models.docs_of(of)) {
            Ok(own) => {
                let made_one =
                    extension_crate(models, (of, &own), (base, base_pieces), &older, |_| ());
                made.push(made_one);
                older.push((of, own));
            }
            Err(error) => made.push(Err(error)),
        }
    }
    (made, once)
}

/// Emits the crate of the only extension of some models, put elsewhere than in the workspace: `adapt` says where.
pub(super) fn extension_alone(
    models: &Models<'_>,
    adapt: impl FnOnce(&mut CrateFacts),
) -> Result<Crate, Error> {
    let [of] = &models.extensions[..] else {
        return Err(Error::defect("alone", "expected one extension"));
    };
    let base = models.get(&of.extension.revision)?;
    let own = pieces(&of.model, &models.docs_of(of))?;
    let base_pieces = pieces_of(models, base)?;
    extension_crate(models, (of, &own), (base, &base_pieces), &[], adapt)
}

/// Emits the crate of a state of an extension: a type that its revision has exactly alike is the one of that, and so is one
/// that an older released state has.
fn extension_crate(
    models: &Models<'_>,
    (of, pieces): (&ExtensionModel<'_>, &Pieces),
    (base, base_pieces): (&RevisionModel<'_>, &Pieces),
    older: &[(&ExtensionModel<'_>, Pieces)],
    adapt: impl FnOnce(&mut CrateFacts),
) -> Result<Crate, Error> {
    let ExtensionModel {
        extension,
        model,
        decisions,
        ..
    } = of;
    let docs = models.docs_of(of);
    let (id, wire) = (base.revision.id.as_str(), base.revision.wire.as_str());
    let once =
        Once::find_for_extension(&[(id, wire, base_pieces), (&extension.name, wire, pieces)]);
    let homes = once.of(&extension.name);
    let shared: SortedSet<&str> = homes.keys().copied().collect();
    // A draft moves: what it has in common with a release is not fixed.
    let is_firm = |one: &ExtensionSpec| one.status() == RevisionStage::Released;
    let firm = older.iter().filter(|(other, _)| {
        let rests_on_it = other.extension.revision == extension.revision;
        is_firm(other.extension) && is_firm(extension) && rests_on_it
    });
    let mut reused: Vec<Reused> = Vec::new();
    for (other, theirs) in firm {
        let name = &other.extension.name;
        let once =
            Once::find_for_extension(&[(name, wire, theirs), (&extension.name, wire, pieces)]);
        let is_new =
            |ty: &&str| !shared.contains(ty) && reused.iter().all(|one| !one.types.contains(*ty));
        let alike = once.of(&extension.name);
        let types: SortedSet<String> = (alike.keys().copied().filter(is_new))
            .map(str::to_owned)
            .collect();
        if !types.is_empty() {
            reused.push(Reused {
                package: extension_package(name),
                types,
            });
        }
    }
    let mut own_model = model.clone();
    (own_model.methods).retain(|method| !shared.contains(method.message.as_str()));
    let rust = |definition: &String| {
        let def = own_model.definition(definition);
        def.map_or_else(|| definition.clone(), |def| def.name.clone())
    };
    let results = extension.results.iter();
    let mut facts = CrateFacts {
        package: extension_package(&extension.name),
        source: format!("spec/{}", extension.schema_file()),
        sha256: extension.sha256.clone(),
        extension: Some(ExtensionFacts {
            name: extension.name.clone(),
            identifier: extension.identifier.clone(),
            written_from: extension.written_from.clone(),
            stage: extension.stage,
            roles: extension.roles.clone(),
            reused,
            meta: (extension.meta.iter())
                .map(|one| (rust(&one.definition), one.name.clone(), one.of.clone()))
                .collect(),
            settings: extension.settings.as_ref().map(rust),
            results: results
                .map(|(method, result)| (method.clone(), rust(result)))
                .collect(),
        }),
        ..facts_of(base.revision, &models.stated)
    };
    adapt(&mut facts);
    Ok(Crate {
        files: crate_files(&own_model, pieces, &shared, &docs, &facts)?,
        package: facts.package,
        types: own_model.types.len() - shared.len(),
        methods: own_model.methods.len(),
        decisions: decisions.clone(),
        ..Crate::default()
    })
}

fn pieces_of(models: &Models<'_>, of: &RevisionModel<'_>) -> Result<Pieces, Error> {
    pieces(&of.model, &models.docs_of_revision(of))
}

fn one_crate(
    models: &Models<'_>,
    of: &RevisionModel<'_>,
    pieces: &Pieces,
    once: &Once,
) -> Result<Crate, Error> {
    let RevisionModel {
        revision,
        model,
        decisions,
    } = of;
    let facts = facts_of(revision, &models.stated);
    // A draft that says what a released revision says is that revision.
    let twin = models
        .twin(of)
        .map(|twin| facts_of(twin.revision, &models.stated));
    let files = match &twin {
        Some(twin) => reexport_files(&facts, twin)?,
        None => {
            let homes = once.of(&revision.id);
            let shared = homes.keys().copied().collect();
            crate_files(model, pieces, &shared, &models.docs_of_revision(of), &facts)?
        }
    };
    Ok(Crate {
        files,
        package: facts.package,
        types: model.types.len(),
        methods: model.methods.len(),
        reexports: twin.map(|twin| twin.package),
        decisions: decisions.clone(),
    })
}

/// Emits the crate of conversions. The error has everything that the emitters refuse.
pub fn shims_crate(models: &Models<'_>, plans: &[PairPlan], once: &Once) -> Result<Crate, Error> {
    let conversions = plans
        .iter()
        .map(|plan| plan.up.len() + plan.down.len())
        .sum();
    Ok(Crate {
        package: "mcp-shims".to_owned(),
        types: conversions,
        methods: plans.iter().map(|plan| plan.methods.len()).sum(),
        decisions: plans.iter().flat_map(|plan| plan.open.clone()).collect(),
        files: shims::crate_files(plans, &shim_facts(models, once))?,
        ..Crate::default()
    })
}

/// Emits the crate that says which revisions there are. Fails for a list without a release.
pub fn registry_crate(
    models: &Models<'_>,
    plans: &[PairPlan],
    once: &Once,
) -> Result<Crate, Error> {
    let shim_facts = shim_facts(models, once);
    let used = shims::used(plans, &shim_facts);
    Ok(Crate {
        package: "mcp-revisions-tables".to_owned(),
        types: used.values().map(|types| types.len()).sum(),
        files: registry::crate_files(models, &used, &shim_facts.features, once)?,
        ..Crate::default()
    })
}

/// The name of the section of a manifest with its features.
const FEATURES: &str = "a feature per revision";

/// Returns the sections of hand-written manifests that name revisions: the features of the runtime, of its connections and of its
/// core, and what hooks depend on.
pub fn sections(models: &Models<'_>) -> Vec<Section> {
    let features = features_of(models);
    let converted: Vec<String> = (models.extensions.iter())
        .filter(|of| is_converted(of.extension, models))
        .map(|of| extension_package(&of.extension.name))
        .collect();
    let section = |path: &str, name, text| Section {
        path: path.to_owned(),
        name,
        text,
    };
    // Who needs an extension of the runtime asks for it.
    let asked_for: Vec<Feature> = features
        .iter()
        .cloned()
        .map(|feature| Feature {
            outermost: feature.outermost && !feature.extension,
            ..feature
        })
        .collect();
    let forwarded = |to: &[&str]| {
        rows(&asked_for, |feature| {
            let each = to.iter().map(|to| format!("{to}/{}", feature.name));
            each.collect()
        })
    };
    let is_used = |package: &&String| {
        !package.starts_with(&extension_package("")) || converted.contains(package)
    };
    let hooks = rows(&features, |feature| {
        (feature.package.iter().filter(is_used))
            .map(|package| format!("dep:{package}"))
            .collect()
    });
    let dependency = |package: &str, optional: bool| {
        let optional = if optional { ", optional = true" } else { "" };
        format!(
            "{package} = {{ path = \"../../generated/{package}\", version = \"{VERSION}\"{optional} }}\n"
        )
    };
    let revisions = (features.iter().zip(links(models)))
        .map(|(feature, (id, _))| dependency(&package(id), feature.package.is_some()));
    let extensions = converted.iter().map(|package| dependency(package, true));
    let dependencies = revisions.chain(extensions);
    vec![
        section(
            "runtime/Cargo.toml",
            FEATURES,
            forwarded(&["mcp-revisions-core", "mcp-revisions-sansio?"]),
        ),
        section(
            "runtime/sansio/Cargo.toml",
            FEATURES,
            forwarded(&["mcp-revisions-core"]),
        ),
        section(
            "runtime/core/Cargo.toml",
            FEATURES,
            forwarded(&["mcp-revisions-tables"]),
        ),
        section("runtime/hooks/Cargo.toml", FEATURES, hooks),
        section(
            "runtime/hooks/Cargo.toml",
            "the revisions",
            dependencies.collect(),
        ),
    ]
}

fn shim_facts<'m>(models: &'m Models<'m>, once: &'m Once) -> ShimFacts<'m> {
    ShimFacts {
        revisions: models.chain(),
        extensions: models.extensions.iter().map(|of| of.extension).collect(),
        features: features_of(models),
        once,
    }
}

/// Returns the features that bring revisions, and those that bring the extensions that rest on them.
fn features_of(models: &Models<'_>) -> Vec<Feature> {
    let extensions: Vec<&ExtensionSpec> = models.extensions.iter().map(|of| of.extension).collect();
    features(&links(models), &extensions)
}

/// Returns whether messages of a state of an extension are converted: from and to a core, or another state.
fn is_converted(extension: &ExtensionSpec, models: &Models<'_>) -> bool {
    let name = &extension.name;
    let pairs = models.extension_pairs();
    pairs
        .iter()
        .any(|pair| pair.old == *name || pair.new == *name)
}

/// Returns the revisions that are converted, and those that are one of them under another name, in order.
fn links<'m>(models: &'m Models<'_>) -> Vec<(&'m str, bool)> {
    let chain = models.chain();
    let handlers =
        Revision::of_handlers(chain.iter().map(|of| of.revision)).map(|of| of.id.as_str());
    let part = |of: &&RevisionModel<'_>| of.revision.status != RevisionStage::Candidate;
    let listed = models.revisions.iter().filter(part);
    let ids = listed.map(|of| of.revision.id.as_str());
    ids.map(|id| (id, handlers == Some(id))).collect()
}

fn facts_of(revision: &Revision, stated: &ErrorRules) -> CrateFacts {
    CrateFacts {
        package: package(&revision.id),
        revision: revision.id.clone(),
        wire: revision.wire.clone(),
        lifecycle: revision.lifecycle.as_str().to_owned(),
        source: format!("spec/{}/schema.json", revision.id),
        sha256: revision.sha256.clone(),
        command: COMMAND.to_owned(),
        dependencies: None,
        deprecated: stated.deprecated(&revision.id),
        extension: None,
    }
}
