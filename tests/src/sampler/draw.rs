//! One sample: a value drawn from a type, member by member.

use mcp_revisions_schema::sorted::SortedMap;

use mcp_revisions_schema::model::{ObjectShape, Presence, Rest, Shape, Ty, TypeDef, Union};
use serde_json::Value as Json;

use super::{Fill, Recipe, Sampler, height, opaque, scalar};
use crate::random::Random;
use crate::tree::{Kind, Member, Node, Standing, Value};

/// How deep a sample goes before it takes the shortest way out.
const DEEPEST: usize = 7;
/// How deep everything optional is there, in a sample that shows all.
const DEEPEST_MOST: usize = 3;
/// About how many values a sample has at most.
const MOST_VALUES: usize = 90;
/// How often a list is as long as its `maxItems`, once in so many.
const FULL_LIST: usize = 10;
/// How long a list gets for that at most.
const MOST_ELEMENTS: usize = 200;
/// How often a value is drawn again that is not within its limits.
const TRIES: usize = 30;

type Limits = SortedMap<String, Json>;

/// What is known on the way down.
#[derive(Clone, Copy)]
struct Way {
    recipe: Option<Recipe>,
    fill: Fill,
    depth: usize,
}

pub(super) struct Draw<'s, 'm> {
    sampler: &'s Sampler<'m>,
    random: Random,
    values: usize,
}

impl<'s, 'm> Draw<'s, 'm> {
    pub(super) fn new(sampler: &'s Sampler<'m>, random: Random) -> Self {
        Self {
            sampler,
            random,
            values: 0,
        }
    }

    /// A value of a named type, as the recipe wants it.
    pub(super) fn top(&mut self, name: &str, recipe: Recipe) -> Node {
        let fill = match recipe {
            Recipe::Least => Fill::Least,
            Recipe::Most => Fill::Most,
            Recipe::Variant(_, fill) => fill,
            Recipe::Alone(_) | Recipe::Choice(_) | Recipe::Random => Fill::Random,
        };
        let way = Way {
            recipe: Some(recipe),
            fill,
            depth: 0,
        };
        self.named(name, &Limits::new(), way)
    }

    /// A value within its limits, where one is found: such as contradict each other are for the judge to tell.
    fn value(&mut self, ty: &Ty, limits: &Limits, way: Way) -> Node {
        let before = self.values;
        let mut node = self.attempt(ty, limits, way);
        for _ in 0..TRIES {
            if self.sampler.fits(limits, &node) {
                break;
            }
            self.values = before;
            node = self.attempt(ty, limits, way);
        }
        node
    }

    fn attempt(&mut self, ty: &Ty, limits: &Limits, way: Way) -> Node {
        self.values += 1;
        let empty = (way.fill == Fill::Least || self.is_enough(way))
            && !limits.contains_key("minProperties")
            && !limits.contains_key("minItems");
        let mut node = match ty {
            Ty::Named(name) => return self.named(name, limits, way),
            Ty::Json => opaque::any(&mut self.random),
            Ty::JsonObject => opaque::object(&mut self.random, empty),
            Ty::JsonArray => opaque::array(&mut self.random, empty),
            Ty::Nullable(inner) => match self.random.once_in(3) {
                true => {
                    let inner = self.value(inner, limits, way);
                    Node {
                        value: Value::Word("null".to_owned()),
                        facts: inner.facts,
                    }
                }
                false => return self.value(inner, limits, way),
            },
            Ty::Array(item) => self.list(item, limits, way),
            Ty::Map(item) => self.map(item, limits, way),
            Ty::Runtime(_, scalars) => {
                let index = match way.recipe {
                    Some(Recipe::Variant(index, _)) => index,
                    _ => self.random.below(scalars.len()),
                };
                let way = Way {
                    recipe: None,
                    ..way
                };
                match scalars.get(index) {
                    Some(ty) => return self.value(ty, limits, way),
                    None => opaque::any(&mut self.random),
                }
            }
            Ty::String | Ty::Boolean | Ty::Integer | Ty::Number => {
                let index = match way.recipe {
                    Some(Recipe::Choice(index)) => Some(index),
                    _ => None,
                };
                let fits = |node: &Node| self.sampler.fits(limits, node);
                // Every scalar type has spellings.
                scalar::draw(&mut self.random, ty, limits, index, fits)
                    .unwrap_or_else(|| opaque::any(&mut self.random))
            }
        };
        node.facts.limits = limits.clone();
        node
    }

    fn named(&mut self, name: &str, limits: &Limits, way: Way) -> Node {
        let Some(def) = self.sampler.model.get(name) else {
            return opaque::any(&mut self.random);
        };
        let mut node = match &def.shape {
            Shape::Object(object) => self.object(def, object, way),
            Shape::Union(union) => self.union(union, way),
            Shape::StringEnum(choices) => self.choice(choices, way),
            Shape::OpenEnum(_) => self.value(&Ty::String, limits, way),
            Shape::Newtype(ty) | Shape::Alias(ty) => self.value(ty, limits, way),
        };
        node.facts.types.insert(0, name.to_owned());
        node
    }

    fn choice(&mut self, choices: &[String], way: Way) -> Node {
        let index = match way.recipe {
            Some(Recipe::Choice(index)) => index,
            _ => self.random.below(choices.len()),
        };
        let one = choices.get(index).cloned().unwrap_or_default();
        Node::new(Value::String(one), Kind::Choice(choices.to_vec()))
    }

    fn union(&mut self, union: &Union, way: Way) -> Node {
        let index = match way.recipe {
            Some(Recipe::Variant(index, _)) => index,
            _ if self.is_enough(way) => self.lowest(union),
            _ => self.random.below(union.variants.len()),
        };
        // What the variant shows of itself is up to its own recipes.
        let recipe = match way.recipe {
            Some(Recipe::Variant(..)) => match way.fill {
                Fill::Least => Some(Recipe::Least),
                Fill::Most => Some(Recipe::Most),
                Fill::Random => None,
            },
            _ => None,
        };
        match union.variants.get(index) {
            Some(variant) => self.value(&variant.ty, &Limits::new(), Way { recipe, ..way }),
            None => opaque::any(&mut self.random),
        }
    }

    fn lowest(&self, union: &Union) -> usize {
        let height = |index: &usize| {
            let variant = union.variants.get(*index);
            variant.map(|variant| height::of(&self.sampler.heights, &variant.ty))
        };
        (0..union.variants.len()).min_by_key(height).unwrap_or(0)
    }

    fn object(&mut self, def: &TypeDef, object: &ObjectShape, way: Way) -> Node {
        let mut members = Vec::new();
        for (index, member) in object.members.iter().enumerate() {
            let standing = match &member.presence {
                Presence::Optional if !self.takes(index, way) => continue,
                Presence::Optional => Standing::Optional,
                Presence::Required | Presence::Constant(_) => Standing::Required,
            };
            let node = match &member.presence {
                Presence::Constant(Json::String(text)) => {
                    Node::new(Value::String(text.clone()), Kind::Constant)
                }
                Presence::Constant(value) => {
                    Node::new(Value::Word(value.to_string()), Kind::Constant)
                }
                _ if is_schema(def, &member.wire) => opaque::schema(&mut self.random),
                _ => self.value(&member.ty, &member.constraints.values, self.below(way)),
            };
            members.push(Member {
                name: member.wire.clone(),
                standing,
                node,
            });
        }
        let unknown = match way.recipe {
            Some(Recipe::Least | Recipe::Alone(_)) => 0,
            Some(Recipe::Most) => 2,
            _ if way.fill == Fill::Least || self.is_enough(way) => 0,
            _ => self.random.below(3),
        };
        for _ in 0..unknown {
            let is_taken = |name: &str| {
                self.sampler.known.contains(name)
                    || members.iter().any(|member| member.name == name)
            };
            let name = opaque::name(&mut self.random, is_taken);
            let node = match &object.rest {
                Rest::Open => opaque::any(&mut self.random),
                Rest::Typed(ty) => self.value(ty, &Limits::new(), self.below(way)),
                Rest::Closed => break,
            };
            members.push(Member {
                name,
                standing: Standing::Unknown,
                node,
            });
        }
        Node::new(Value::Object(members), Kind::Object)
    }

    /// Whether an optional member is there.
    fn takes(&mut self, index: usize, way: Way) -> bool {
        match (way.recipe, way.fill) {
            (Some(Recipe::Alone(only)), _) => index == only,
            (Some(Recipe::Most), _) => true,
            (_, Fill::Least) => false,
            _ if self.is_enough(way) => false,
            (_, Fill::Most) => true,
            (_, Fill::Random) => self.random.once_in(2),
        }
    }

    fn list(&mut self, item: &Ty, limits: &Limits, way: Way) -> Node {
        let count = self.count(way, limits, "Items");
        let inner: Limits = (limits.iter())
            .filter_map(|(name, value)| Some((name.strip_prefix("[]")?.to_owned(), value.clone())))
            .collect();
        let items = (0..count)
            .map(|_| self.value(item, &inner, self.below(way)))
            .collect();
        Node::new(Value::List(items), Kind::List)
    }

    fn map(&mut self, item: &Ty, limits: &Limits, way: Way) -> Node {
        let mut members: Vec<Member> = Vec::new();
        for _ in 0..self.count(way, limits, "Properties") {
            let name = opaque::name(&mut self.random, |name| {
                members.iter().any(|member| member.name == name)
            });
            members.push(Member {
                name,
                standing: Standing::Unknown,
                node: self.value(item, &Limits::new(), self.below(way)),
            });
        }
        Node::new(Value::Object(members), Kind::Map)
    }

    /// How many elements a list or map has, by its `minItems` and `maxItems`, or those of properties.
    fn count(&mut self, way: Way, limits: &Limits, of: &str) -> usize {
        let limit = |bound: &str| {
            let limit = limits.get(&format!("{bound}{of}")).and_then(Json::as_u64);
            limit.and_then(|limit| usize::try_from(limit).ok())
        };
        let (least, most) = (limit("min").unwrap_or(0), limit("max"));
        if let Some(most) = most
            && self.random.once_in(FULL_LIST)
        {
            return most.min(MOST_ELEMENTS);
        }
        let count = match way.fill {
            Fill::Least => 0,
            _ if self.is_enough(way) => 0,
            Fill::Most => 1 + self.random.below(2),
            Fill::Random => self.random.below(4),
        };
        count.clamp(least, most.unwrap_or(usize::MAX).max(least))
    }

    fn below(&self, way: Way) -> Way {
        let depth = way.depth + 1;
        Way {
            recipe: None,
            depth,
            fill: match way.fill {
                Fill::Most if depth >= DEEPEST_MOST => Fill::Random,
                fill => fill,
            },
        }
    }

    fn is_enough(&self, way: Way) -> bool {
        way.depth > DEEPEST || self.values > MOST_VALUES
    }
}

/// Where the model has any object, and the schema wants a JSON Schema (`spec/shapes.toml`).
fn is_schema(def: &TypeDef, wire: &str) -> bool {
    def.definition.as_deref() == Some("Tool") && matches!(wire, "inputSchema" | "outputSchema")
}
