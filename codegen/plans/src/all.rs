//! The plans of all conversions: between adjacent revisions, between the states of extensions, and between these and cores.

use mcp_convert::Adapter;

use crate::rules::{Action, PairRules, RuleSeverity};
use crate::{PairPlan, PairSide, Planned, ReturnedFeature};
use mcp_revisions_schema::decision::Decision;
use mcp_revisions_schema::model::Model;
use mcp_revisions_schema::pair::{RevisionPair, StepDirection};
use mcp_revisions_schema::rules::{ModelMistake, matches};
use mcp_revisions_schema::spec::errors::ErrorRules;
use mcp_revisions_schema::spec::extensions::Core;
use mcp_revisions_schema::spec::rules::RuleFile;
use mcp_revisions_schema::spec::{ExtensionSpec, Revision, RevisionStage, Spec};
use mcp_revisions_schema::{Error, ExtensionModel, Models, RevisionModel};

/// Plans the conversions between adjacent revisions: those that can be negotiated, and drafts that differ; and those between an
/// extension and the core that had the feature before, or has it again. A change to a draft without a rule is listed in
/// [`PairPlan::open`]. Returns an error for each change between released revisions without a rule, and for each rule without a
/// change.
pub fn plan_shims(models: &Models<'_>, spec: &Spec) -> Result<Vec<PairPlan>, Error> {
    let mut errors = Vec::new();
    let pairs = models.all_pairs();
    let files: Vec<String> = pairs.iter().map(RevisionPair::file).collect();
    let plans = pairs
        .iter()
        .zip(&files)
        .map(|(pair, name)| plan_pair(models, pair, spec.rules.get(name)));
    let plans = Error::apart(plans, &mut errors);
    errors.extend(models.changes.faults(&pairs));
    // Nothing reads the rules of revisions that are not adjacent.
    for (name, file) in spec.rules.iter() {
        if RevisionPair::is_rule_file(name) && !files.iter().any(|known| known == name) {
            let problem = "no two adjacent revisions of that name are converted";
            let help = format!("known: {}", files.join(", "));
            errors.push(Error::file(file.path.as_str(), problem, "", help));
        }
    }
    Error::check(errors)?;
    Ok(plans)
}

/// Plans the conversions of a pair by the rules in a file. Fails as [`plan_shims`].
pub fn plan_pair(
    models: &Models<'_>,
    pair: &RevisionPair,
    file: RuleFile,
) -> Result<PairPlan, Error> {
    let state = |name: &String| {
        let mut states = models.extensions.iter();
        states.find(|of| of.extension.name == *name)
    };
    match [&pair.old, &pair.new].map(state) {
        [None, None] => plan_adjacent(models, pair, file),
        states => plan_extension(models, pair, states, file),
    }
}

/// Plans the conversions between the methods of a feature at two ends. Each end is a state of an extension, or a core: the one before
/// the first state, or the later one that took the feature back.
fn plan_extension(
    models: &Models<'_>,
    pair: &RevisionPair,
    [old_state, new_state]: [Option<&ExtensionModel<'_>>; 2],
    file: RuleFile,
) -> Result<PairPlan, Error> {
    // The errors of an extension are those of the revision that it rests on.
    let end = |state: Option<&ExtensionModel<'_>>, id: &str, core: Option<&Core>| {
        let (base, model, own): (_, _, Vec<&String>) = match state {
            Some(ExtensionModel {
                extension, model, ..
            }) => {
                let own = extension.methods.iter().map(|method| &method.name);
                (models.get(&extension.revision)?, model, own.collect())
            }
            None => {
                let base = models.get(id)?;
                let own = core.iter().flat_map(|core| &core.methods);
                (base, &base.model, own.collect())
            }
        };
        Ok::<_, Error>((base, with_methods(model, &own)))
    };
    let earlier = new_state.and_then(|of| of.extension.core.as_ref());
    let later = old_state.and_then(|of| of.extension.later_core.as_ref());
    let (before, old) = end(old_state, &pair.old, earlier)?;
    let (after, new) = end(new_state, &pair.new, later)?;
    let [old_codes, new_codes] = [before, after].map(|of| sent_codes(&models.stated, of.revision));
    let old = PairSide {
        id: &pair.old,
        model: &old,
        ..side(before, &old_codes)
    };
    let new = PairSide {
        id: &pair.new,
        model: &new,
        ..side(after, &new_codes)
    };
    let status = new_state.map_or(after.revision.status, |of| of.extension.status());
    let may_be_open = status == RevisionStage::Draft
        || old_state.is_some_and(|of| of.extension.status() == RevisionStage::Draft);
    let rules = rules_resting_on(models, file, [before, after])?;
    let rules = (rules, Vec::new());
    let mut plan = planned(models, pair, [old, new], rules, &[], may_be_open)?;
    // The types that the extension repeats are those of the revision, too.
    let base = if new_state.is_some() { after } else { before };
    plan.alike.retain(|name| base.model.get(name).is_none());
    Ok(plan)
}

fn plan_adjacent(
    models: &Models<'_>,
    pair: &RevisionPair,
    file: RuleFile,
) -> Result<PairPlan, Error> {
    let (old, new) = (models.get(&pair.old)?, models.get(&pair.new)?);
    let sent = [old, new].map(|of| sent_codes(&models.stated, of.revision));
    let [old_codes, new_codes] = &sent;
    let is_draft = |of: &RevisionModel<'_>| of.revision.status == RevisionStage::Draft;
    let sides = [side(old, old_codes), side(new, new_codes)];
    let returned = returned_features(models, pair)?;
    // Faults of a rule are reported together: those of the rule itself, and those for this pair.
    let rules = PairRules::unfinished(file)?;
    let unsound = rules.faults();
    planned(
        models,
        pair,
        sides,
        (rules, unsound),
        &returned,
        is_draft(old) || is_draft(new),
    )
}

/// Reads the rules of a pair of an extension whose two states rest on these revisions. If the revisions are adjacent, their rows
/// about error codes hold, too; else each code has a row in the file itself.
fn rules_resting_on(
    models: &Models<'_>,
    file: RuleFile,
    [old, new]: [&RevisionModel<'_>; 2],
) -> Result<PairRules, Error> {
    let rules = PairRules::read(file)?;
    let pair = RevisionPair::new(&old.revision.id, &new.revision.id);
    if !models.shim_pairs().contains(&pair) {
        return Ok(rules);
    }
    let core = PairRules::unfinished(models.texts.get(&pair.file()))?;
    rules.resting_on(&pair, &core)
}

/// Returns the features of extensions that the newer revision of a pair has in its core again.
fn returned_features<'m>(
    models: &'m Models<'_>,
    pair: &RevisionPair,
) -> Result<Vec<ReturnedFeature<'m>>, Error> {
    let mut returned = Vec::new();
    for ExtensionModel { extension, .. } in &models.extensions {
        let later = extension.later_core.as_ref();
        let Some(core) = later.filter(|core| core.revision == pair.new) else {
            continue;
        };
        returned.push(ReturnedFeature {
            extension,
            methods: &core.methods,
            adapter: adapter_of_results(models, extension)?,
        });
    }
    Ok(returned)
}

/// Returns the adapter of the results by which an extension answers requests: the one that the rules name for the revision
/// whose core had the feature last.
fn adapter_of_results(
    models: &Models<'_>,
    extension: &ExtensionSpec,
) -> Result<Option<Adapter>, Error> {
    let all = models.extensions.iter().map(|of| of.extension);
    let mut states = all.filter(|state| state.folder == extension.folder);
    let Some(earlier) = states.find_map(|state| state.core.as_ref()) else {
        return Ok(None);
    };
    let mut pairs = models.shim_pairs().into_iter();
    let Some(pair) = pairs.find(|pair| pair.old == earlier.revision) else {
        return Ok(None);
    };
    let before = models.get(&earlier.revision)?;
    let rules = PairRules::unfinished(models.texts.get(&pair.file()))?;
    let results = extension.results.iter().map(|(_, result)| result);
    let mut places = results.flat_map(|result| before.model.places_of_variant(result));
    Ok(
        places.find_map(|place| match rules.action(&place, StepDirection::Up) {
            Some(Action::RequiresState(adapter)) => Some(*adapter),
            _ => None,
        }),
    )
}

/// Returns the rules of two adjacent revisions that match nothing. The file may be unfinished.
pub fn idle_rules(
    models: &Models<'_>,
    pair: &RevisionPair,
    file: RuleFile,
) -> Result<Vec<Error>, Error> {
    let (old, new) = (models.get(&pair.old)?, models.get(&pair.new)?);
    let [old_codes, new_codes] = [old, new].map(|of| sent_codes(&models.stated, of.revision));
    let (rules, _) = PairRules::unfinished(file)?.answering(&models.changes, pair);
    let _ = crate::plan(side(old, &old_codes), side(new, &new_codes), &rules);
    Ok(rules.unused())
}

/// Plans a pair. Unless it `may_be_open`, a change without a rule is an error. Proposes rows for the features that the newer
/// revision has in its core again.
fn planned(
    models: &Models<'_>,
    pair: &RevisionPair,
    [old, new]: [PairSide<'_>; 2],
    (rules, unsound): (PairRules, Vec<Error>),
    returned: &[ReturnedFeature<'_>],
    may_be_open: bool,
) -> Result<PairPlan, Error> {
    let (rules, unanswered) = (rules.keeping(&models.mistakes)).answering(&models.changes, pair);
    let sides = [old.model, new.model];
    let Planned {
        mut plan,
        mut faults,
    } = crate::plan(old, new, &rules);
    for feature in returned {
        feature.propose(pair, sides, &mut plan.open, rules.ids());
    }
    weigh(models, sides, &mut plan.open);
    if !may_be_open {
        faults.extend(plan.open.iter().cloned().map(Decision::refused));
    }
    faults.extend(unanswered);
    faults.extend(unsound);
    Error::check(faults)?;
    Ok(plan)
}

/// The severity of a proposed rule that loses something.
const SEMANTIC: &str = "severity = \"semantic\"\n";

/// Gives proposed rules the severity of a similar loss: of a rule of another pair for the member, or for a member whose value is
/// its object, or of a row of `spec/mistakes.toml`.
fn weigh(models: &Models<'_>, sides: [&Model; 2], open: &mut [Decision]) {
    let mut open = (open.iter_mut())
        .filter(|one| one.settle.stub.contains(SEMANTIC))
        .peekable();
    if open.peek().is_none() {
        return;
    }
    let files = (models.texts.iter()).filter(|(name, _)| RevisionPair::is_rule_file(name));
    let rules: Vec<PairRules> = files
        .filter_map(|(_, file)| PairRules::unfinished(file.clone()).ok())
        .collect();
    let mut known: Vec<(&str, RuleSeverity)> = Vec::new();
    for rule in rules.iter().flat_map(PairRules::rules) {
        let all = rule.at.all().iter().map(String::as_str);
        known.extend(
            rule.severity
                .into_iter()
                .flat_map(|it| all.clone().map(move |at| (at, it))),
        );
    }
    let holds = |at: &str, owner: &str| {
        let member = at.split_once('.').and_then(|(ty, member)| {
            let mut objects = sides.iter().filter_map(|model| model.shape(ty)?.object());
            objects.find_map(|object| object.member(member))
        });
        member.is_some_and(|member| member.ty.innermost().name() == Some(owner))
    };
    for decision in open {
        let mut gravest = RuleSeverity::Semantic;
        for place in decision.place.split(", ") {
            let Some((owner, member)) = place.split_once('.') else {
                continue;
            };
            let of_place = known
                .iter()
                .filter(|(at, _)| matches(at, place) || holds(at, owner));
            for (_, severity) in of_place {
                gravest = gravest.max(*severity);
            }
            let is_it = |row: &&ModelMistake| {
                row.member == member && (row.of.is_empty() || row.of.contains(owner))
            };
            let mut stated = models.mistakes.iter().filter(is_it);
            if stated.any(|row| row.severity.as_deref() == Some("safety")) {
                gravest = RuleSeverity::Safety;
            }
        }
        let word = match gravest {
            RuleSeverity::Cosmetic | RuleSeverity::Semantic => continue,
            RuleSeverity::Interaction => "interaction",
            RuleSeverity::Safety => "safety",
        };
        let stub = &decision.settle.stub;
        decision.settle.stub = stub.replace(SEMANTIC, &format!("severity = \"{word}\"\n"));
    }
}

fn side<'m>(of: &'m RevisionModel<'_>, errors: &'m [(i64, String)]) -> PairSide<'m> {
    PairSide {
        id: &of.revision.id,
        wire: &of.revision.wire,
        model: &of.model,
        errors,
    }
}

/// Returns a model with only these methods.
fn with_methods(model: &Model, names: &[&String]) -> Model {
    let mut subset = model.clone();
    subset
        .methods
        .retain(|method| names.contains(&&method.name));
    subset
}

/// Returns the error codes that a peer of a revision may send: those of `spec/errors.toml`, and others of its schema.
fn sent_codes(codes: &ErrorRules, revision: &Revision) -> Vec<(i64, String)> {
    let said = (codes.errors.iter())
        .filter(|error| error.send && error.revisions.contains(&revision.id))
        .map(|error| (error.code, error.name.clone()));
    let unlisted = codes.unlisted(revision).into_iter();
    said.chain(unlisted.map(|(code, name)| (code, name.to_owned())))
        .collect()
}
