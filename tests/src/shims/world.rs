//! The revisions and extensions that are converted, with their models, judges and plans.

use std::collections::{BTreeMap, BTreeSet};

use mcp_convert::dynamic::Pair;
use mcp_revisions_plans::PairPlan;
use mcp_revisions_plans::open::UNDECIDED;
use mcp_revisions_plans::rules::{Action, PairRules};
use mcp_revisions_schema::model::{Model, Shape};
use mcp_revisions_schema::{Models, Spec};
use serde_json::Value;

use super::steps;
use crate::judge::Judge;

/// A revision or an extension that is converted.
#[derive(Debug)]
pub struct Side<'m> {
    /// Its id, or its name.
    pub id: &'m str,
    /// Its model.
    pub model: &'m Model,
    /// The judge of its texts.
    pub judge: Judge,
    /// Every name that some type gives to a member.
    pub names: BTreeSet<&'m str>,
}

/// An empty object that nobody can tell from none, or a number that may be spelled in another way.
#[derive(Debug, Clone)]
pub struct Implied {
    /// On which way it is left out or filled in.
    pub up: bool,
    /// The member.
    pub member: String,
    /// The value.
    pub value: Value,
}

/// All of them.
#[derive(Debug)]
pub struct World<'m> {
    /// The revisions and the extensions that are converted, by id.
    pub sides: Vec<Side<'m>>,
    /// Those of all pairs, in the order of [`steps::pairs`].
    pub plans: Vec<PairPlan>,
    /// What the rules of each pair say, for the laws.
    pub rules: Vec<Said>,
}

/// What the rules of a pair say of the places where a law does not hold: that, and no list of its own, excuses them.
#[derive(Debug, Default)]
pub struct Said {
    /// The ids of all rules.
    pub ids: BTreeSet<String>,
    /// Those that lose something under the policy that carries, too: `carry = false`.
    pub not_carried: BTreeSet<String>,
    /// Those that drop on one way and stop on the other, so that there is no way back.
    pub stops: BTreeSet<String>,
    /// Members that travel on to the older revision, which does not name them: `down = "pass"`.
    pub passed: BTreeSet<String>,
    /// What goes without saying, `down = { implied = VALUE }`, and comes back as none or as it is spelled there.
    pub implied: Vec<Implied>,
}

impl<'m> World<'m> {
    /// Prepares models, judges and plans.
    ///
    /// # Errors
    /// A spec that cannot be planned, or a schema that cannot be judged by.
    pub fn new(spec: &Spec, models: &'m Models<'_>) -> Result<Self, String> {
        let revisions = (models.revisions.iter())
            .map(|of| (of.revision.id.as_str(), (&of.revision.schema, &of.model)));
        let extensions = (models.extensions.iter()).map(|of| {
            (
                of.extension.name.as_str(),
                (&of.extension.schema, &of.model),
            )
        });
        let known: BTreeMap<&str, (&Value, &'m Model)> = revisions.chain(extensions).collect();
        let ids: BTreeSet<&'static str> = steps::tables()
            .flat_map(|tables| tables.revisions.iter().map(|row| row.id))
            .collect();
        let side = |id: &'static str| -> Result<Side<'m>, String> {
            let (schema, model) = known.get(id).ok_or_else(|| format!("no model of {id}"))?;
            Ok(Side {
                id,
                model,
                judge: Judge::of(id, schema, model)?,
                names: names(model),
            })
        };
        let sides = ids.into_iter().map(side).collect::<Result<_, _>>()?;
        let planned =
            mcp_revisions_plans::plan_shims(models, spec).map_err(|error| error.to_string())?;
        let plans = in_order_of_pairs(planned)?;
        let rules = plans
            .iter()
            .map(|plan| said(spec, plan))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sides,
            plans,
            rules,
        })
    }

    /// A revision or an extension.
    #[must_use]
    pub fn side(&self, id: &str) -> Option<&Side<'m>> {
        self.sides.iter().find(|side| side.id == id)
    }
}

/// Returns the plan of each pair of the tables.
fn in_order_of_pairs(mut planned: Vec<PairPlan>) -> Result<Vec<PairPlan>, String> {
    let plan = |(pair, _): (&Pair, _)| {
        let is_its = |plan: &PairPlan| plan.pair.old == pair.old && plan.pair.new == pair.new;
        match planned.iter().position(is_its) {
            Some(at) => Ok(planned.swap_remove(at)),
            None => Err(format!("no plan of {}..{}", pair.old, pair.new)),
        }
    };
    let plans = steps::pairs()
        .into_iter()
        .map(plan)
        .collect::<Result<_, String>>()?;
    match planned.first() {
        Some(plan) => Err(format!(
            "no tables have {}..{}",
            plan.pair.old, plan.pair.new
        )),
        None => Ok(plans),
    }
}

fn names(model: &Model) -> BTreeSet<&str> {
    let objects = model.types.values().filter_map(|def| match &def.shape {
        Shape::Object(object) => Some(object),
        _ => None,
    });
    objects
        .flat_map(|object| object.members.iter().map(|member| member.wire.as_str()))
        .collect()
}

fn said(spec: &Spec, plan: &PairPlan) -> Result<Said, String> {
    let rules = PairRules::of(&plan.pair, spec).map_err(|error| error.to_string())?;
    let mut said = Said::default();
    // What a draft leaves open is lost in the name of no rule, and said so; a release leaves nothing open.
    if !plan.open.is_empty() {
        said.ids.insert(UNDECIDED.to_owned());
    }
    for rule in rules.rules() {
        let id = || rule.id.clone();
        said.ids.insert(id());
        if !rule.carry {
            said.not_carried.insert(id());
        }
        let stops =
            |action: &Action| matches!(action, Action::RequiresState(_) | Action::Reject(_));
        let drops = |action: &Action| *action == Action::Drop;
        if let (Some(up), Some(down)) = (&rule.up, &rule.down)
            && (drops(up) && stops(down) || stops(up) && drops(down))
        {
            said.stops.insert(id());
        }
        let members = rule.at.all().iter().filter_map(|at| at.split_once('.'));
        let members = members.map(|(_, name)| name.to_owned());
        match &rule.down {
            Some(Action::Pass) => said.passed.extend(members),
            Some(Action::Implied(value)) if value.is_object() || value.is_number() => {
                // What every newer message has is made on the way up; else it is left out on the way down.
                let up = value.is_object() && rule.up.is_some();
                said.implied.extend(members.map(|member| Implied {
                    up,
                    member,
                    value: value.clone(),
                }));
            }
            _ => {}
        }
    }
    Ok(said)
}
