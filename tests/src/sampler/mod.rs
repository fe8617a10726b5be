//! Valid JSON texts of every type of a model, drawn by rule and then by chance.
//!
//! First the corners: no optional member, all of them, each alone; every variant; every choice; every spelling of a
//! scalar. Then random ones, in blanks, escapes and orders of members that a careful writer would not use.

mod draw;
mod height;
mod opaque;
mod scalar;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use mcp_revisions_schema::model::{Model, Presence, Shape, Ty};
use mcp_revisions_schema::sorted::SortedMap;

use serde_json::Value as Json;

use crate::judge;
use crate::random::{Random, seed};
use crate::tree::{Node, Style};
use draw::Draw;

/// Draws samples of the types of one model.
#[derive(Debug)]
pub struct Sampler<'m> {
    model: &'m Model,
    revision: &'m str,
    /// How deep the smallest value of each named type is.
    heights: BTreeMap<&'m str, u32>,
    /// Every name that some type gives to a member, and so no name for an unknown one.
    known: BTreeSet<&'m str>,
    /// The judges of limits, by their text; none of limits that do not stand alone.
    limits: Mutex<BTreeMap<String, Option<Arc<Validator>>>>,
}

/// What a sample shows of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipe {
    /// No optional member, empty lists.
    Least,
    /// Every optional member, and unknown ones.
    Most,
    /// Of the optional members only that of this index.
    Alone(usize),
    /// This variant, with as little as it takes, or with all it has.
    Variant(usize, Fill),
    /// This string of an enumeration, or this spelling of a scalar.
    Choice(usize),
    /// Whatever comes.
    Random,
}

/// How much of what is optional is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Nothing.
    Least,
    /// All.
    Most,
    /// Some.
    Random,
}

/// A sample.
#[derive(Debug, Clone)]
pub struct Instance {
    /// What it shows.
    pub recipe: Recipe,
    /// What makes it again.
    pub seed: u64,
    /// The value.
    pub node: Node,
    /// Its text.
    pub text: String,
}

impl<'m> Sampler<'m> {
    /// A sampler of the types of a revision.
    #[must_use]
    pub fn new(model: &'m Model, revision: &'m str) -> Self {
        let objects = model.types.values().filter_map(|def| match &def.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        });
        Self {
            model,
            revision,
            heights: height::heights(model),
            known: objects
                .flat_map(|object| object.members.iter().map(|member| member.wire.as_str()))
                .collect(),
            limits: Mutex::default(),
        }
    }

    /// Whether a value is within the limits that the schema puts on it, each of its keywords held.
    fn fits(&self, limits: &SortedMap<String, Json>, node: &Node) -> bool {
        if limits.is_empty() {
            return true;
        }
        let schema: Json = limits.clone().into_iter().collect();
        let judge = {
            let mut judges = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
            let judge = judges.entry(schema.to_string());
            let judge = judge.or_insert_with(|| judge::of_schema(&schema).ok().map(Arc::new));
            judge.clone()
        };
        let value = serde_json::from_str(&node.text(&mut Style::plain()));
        judge.is_none_or(|judge| value.is_ok_and(|value| judge.is_valid(&value)))
    }

    /// Every corner of a type, and random samples until there are `least`.
    #[must_use]
    pub fn instances(&self, type_name: &str, least: usize) -> Vec<Instance> {
        let mut recipes = self.corners(type_name);
        let random = least.saturating_sub(recipes.len());
        recipes.extend(std::iter::repeat_n(Recipe::Random, random));
        (recipes.into_iter().enumerate())
            .map(|(index, recipe)| {
                let seed = seed(&[self.revision, type_name, &index.to_string()]);
                self.instance(type_name, recipe, seed)
            })
            .collect()
    }

    /// One sample, the same for the same seed.
    #[must_use]
    pub fn instance(&self, type_name: &str, recipe: Recipe, seed: u64) -> Instance {
        let mut draw = Draw::new(self, Random::new(seed));
        let node = draw.top(type_name, recipe);
        let mut style = match recipe {
            Recipe::Random | Recipe::Choice(_) => Style::any(seed),
            _ => Style::plain(),
        };
        let text = node.text(&mut style);
        Instance {
            recipe,
            seed,
            node,
            text,
        }
    }

    /// The recipes that together show all that a type can be at its own level.
    #[must_use]
    pub fn corners(&self, type_name: &str) -> Vec<Recipe> {
        let Some(def) = self.model.get(type_name) else {
            return Vec::new();
        };
        match &def.shape {
            Shape::Object(object) => {
                let optional = |index: &usize| {
                    let member = object.members.get(*index);
                    member.is_some_and(|member| member.presence == Presence::Optional)
                };
                let alone = (0..object.members.len()).filter(optional);
                let mut recipes = vec![Recipe::Least, Recipe::Most];
                recipes.extend(alone.map(Recipe::Alone));
                recipes
            }
            Shape::Union(union) => {
                let both = |index| [Fill::Least, Fill::Most].map(|fill| (index, fill));
                (0..union.variants.len())
                    .flat_map(both)
                    .map(|(index, fill)| Recipe::Variant(index, fill))
                    .collect()
            }
            Shape::StringEnum(choices) => (0..choices.len()).map(Recipe::Choice).collect(),
            Shape::OpenEnum(_) => self.corners_of(&Ty::String),
            Shape::Newtype(ty) | Shape::Alias(ty) => self.corners_of(ty),
        }
    }

    fn corners_of(&self, ty: &Ty) -> Vec<Recipe> {
        match ty {
            Ty::Named(name) => self.corners(name),
            Ty::Runtime(_, scalars) => (0..scalars.len())
                .map(|index| Recipe::Variant(index, Fill::Random))
                .collect(),
            ty => match scalar::spellings(ty) {
                0 => vec![Recipe::Least, Recipe::Most],
                count => (0..count).map(Recipe::Choice).collect(),
            },
        }
    }
}
