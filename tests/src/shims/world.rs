//! The revisions that are converted, with their models, judges and plans.

use std::collections::{BTreeMap, BTreeSet};

use mcp_registry::TABLES;
use mcp_schema::Spec;
use mcp_schema::model::{Model, Shape};
use mcp_schema::shims::PairPlan;
use mcp_schema::shims::open::UNDECIDED;
use mcp_schema::shims::rules::PairRules;
use mcp_schema::{Models, RevisionModel};

use crate::judge::Judge;

/// A revision that is converted.
#[derive(Debug)]
pub struct Side<'m> {
    /// Its id.
    pub id: &'m str,
    /// Its model.
    pub model: &'m Model,
    /// The judge of its texts.
    pub judge: Judge,
    /// Every name that some type gives to a member.
    pub names: BTreeSet<&'m str>,
}

/// All of them.
#[derive(Debug)]
pub struct World<'m> {
    /// Oldest first, as in the tables.
    pub sides: Vec<Side<'m>>,
    /// One fewer.
    pub plans: Vec<PairPlan>,
    /// The ids of the rules of each pair.
    pub rules: Vec<BTreeSet<String>>,
}

impl<'m> World<'m> {
    /// Prepares models, judges and plans.
    ///
    /// # Errors
    /// A spec that cannot be planned, or a schema that cannot be judged by.
    pub fn new(spec: &Spec, models: &'m Models<'_>) -> Result<Self, String> {
        let by_id: BTreeMap<&str, &RevisionModel<'_>> = models
            .revisions
            .iter()
            .map(|of| (of.revision.id.as_str(), of))
            .collect();
        let side = |id: &'static str| -> Result<Side<'m>, String> {
            let of = by_id.get(id).ok_or_else(|| format!("no model of {id}"))?;
            Ok(Side {
                id,
                model: &of.model,
                judge: Judge::new(of.revision, &of.model)?,
                names: names(&of.model),
            })
        };
        let sides = TABLES
            .revisions
            .iter()
            .map(|row| side(row.id))
            .collect::<Result<_, _>>()?;
        let plans = models.plan_shims(spec).map_err(|error| error.to_string())?;
        let rules = plans
            .iter()
            .map(|plan| rule_ids(spec, plan))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sides,
            plans,
            rules,
        })
    }

    /// A revision.
    #[must_use]
    pub fn side(&self, id: &str) -> Option<&Side<'m>> {
        self.sides.iter().find(|side| side.id == id)
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

fn rule_ids(spec: &Spec, plan: &PairPlan) -> Result<BTreeSet<String>, String> {
    let rules = PairRules::of(&plan.pair, spec).map_err(|error| error.to_string())?;
    let ids = rules.rules().map(|rule| rule.id.clone());
    // What a draft leaves open is lost in the name of no rule, and said so; a release leaves nothing open.
    let undecided = (!plan.open.is_empty()).then(|| UNDECIDED.to_owned());
    Ok(ids.chain(undecided).collect())
}
