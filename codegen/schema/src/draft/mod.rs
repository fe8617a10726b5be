//! A schema on its way to a model: its definitions named and shaped, its methods paired with what answers them.
//!
//! Nothing is decided yet: how a union is read, where a `Box` is needed and which file holds a type are worked out by
//! the pure functions of [`crate::analyze`], and joined with the draft in [`crate::model`].
//! What the schema leaves open has a safe answer here, and a [`Decision`] that says so.

mod aliases;
mod choice;
mod cycles;
mod definitions;
mod finite;
pub(crate) mod flatten;
mod methods;
mod names;
mod object;
mod opaque;
mod open;
mod ty;

use crate::pointer;
use std::collections::{BTreeMap, BTreeSet};

use crate::Error;
use crate::decision::{Decision, Scope};
use crate::rules::Rules;
use crate::schema::{Constraints, Schema};
use crate::spec::methods::MethodRules;

pub(crate) use cycles::cycles;
pub(crate) use finite::ranks;
pub(crate) use open::opaque_rule;
pub use ty::{Direction, Method, MethodKind, Presence, Rest, Ty};

/// One revision: what its schema defines, and its methods.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// Every type, by Rust name.
    pub(crate) types: BTreeMap<String, Def>,
    /// Every method, in order of direction, kind and name.
    pub(crate) methods: Vec<Method>,
    /// The schema's own prose, by `Type` or `Type.member`.
    pub(crate) prose: BTreeMap<String, String>,
    /// What the schema leaves open so far.
    pub(crate) decisions: Vec<Decision>,
}

/// A named type and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Def {
    pub(crate) name: String,
    /// The name of the schema definition; absent for a type hoisted from an inline schema.
    pub(crate) definition: Option<String>,
    /// Where it stands: `Tool`, or `Tool.annotations` for an inline schema.
    pub(crate) places: Vec<String>,
    /// JSON pointer to its schema; empty for what no schema spells out.
    pub(crate) pointer: String,
    /// The name under which `docs.toml` keeps the lines of this type.
    pub(crate) doc_key: String,
    pub(crate) deprecated: bool,
    pub(crate) shape: Shape,
}

/// What a type is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Object(Object),
    Union(Union),
    /// One of a fixed set of strings.
    StringEnum(Vec<String>),
    /// A type of its own around a scalar.
    Newtype(Ty),
    /// Another name for a type.
    Alias(Ty),
}

/// An object with named members, in order of their wire names, and what may stand beside them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) members: Vec<Member>,
    pub(crate) rest: Rest,
}

/// A named member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) wire: String,
    pub(crate) field: String,
    pub(crate) presence: Presence,
    pub(crate) ty: Ty,
    pub(crate) constraints: Constraints,
    pub(crate) deprecated: bool,
}

/// One of several types, each once, in the order of the schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Union {
    pub(crate) types: Vec<Ty>,
    /// Whether an unknown discriminator is kept as a case of its own (messages of unknown methods).
    pub(crate) open: bool,
}

impl Draft {
    /// Names and shapes what a schema defines; `prose` is the schema's own, by JSON pointer.
    ///
    /// # Errors
    /// Definitions that end in no type, and rules that do not hold.
    pub(crate) fn of(
        schema: &Schema,
        scope: &Scope,
        rules: &Rules,
        methods: &MethodRules,
        prose: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let mut draft = definitions::shaped(schema, scope, rules, prose)?;
        aliases::settle(&mut draft, &schema.file, scope)?;
        finite::open_endless(&mut draft, scope);
        opaque::settle_namesakes(&mut draft, scope);
        let defined = |definition: &str| schema.definitions.contains_key(definition);
        let rule = |method: &str| match scope {
            Scope::Revision(id) => methods.result(id, method),
            Scope::Schema(_) | Scope::Pair(_) => methods.result_among(method, defined),
        };
        let paired = methods::paired(&draft, scope, methods, rule);
        draft.types.extend(paired.outcomes);
        draft.methods = paired.methods;
        draft.decisions.extend(paired.decisions);
        Ok(draft)
    }

    /// The type with this Rust name.
    pub(crate) fn get(&self, name: &str) -> Option<&Def> {
        self.types.get(name)
    }

    /// The type of a schema definition.
    pub(crate) fn definition(&self, definition: &str) -> Option<&Def> {
        let is_it = |def: &&Def| def.definition.as_deref() == Some(definition);
        self.types.values().find(is_it)
    }

    /// What a type stands for once aliases are followed.
    pub(crate) fn resolve<'d>(&'d self, mut ty: &'d Ty) -> &'d Ty {
        // A draft has no alias cycles, so this ends.
        while let Ty::Named(name) = ty {
            match self.get(name).map(|def| &def.shape) {
                Some(Shape::Alias(target)) => ty = target,
                _ => break,
            }
        }
        ty
    }

    /// The types that a shape holds by value.
    ///
    /// What further members hold lies in a map, and so on the heap.
    pub(crate) fn held(&self, shape: &Shape) -> BTreeSet<String> {
        let by_value = |ty: &&Ty| Some(self.resolve(ty).by_value()?.clone());
        let held = shape.holds();
        match shape {
            Shape::Object(object) => held[..object.members.len()]
                .iter()
                .filter_map(by_value)
                .collect(),
            _ => held.iter().filter_map(by_value).collect(),
        }
    }
}

impl Def {
    /// Where it stands, for errors: a JSON pointer for a definition, its places for an inline schema.
    pub(crate) fn at(&self) -> String {
        match &self.definition {
            Some(definition) => format!("/$defs/{}", pointer::escaped(definition)),
            None => self.places.join(", "),
        }
    }
}

impl Shape {
    /// The types that a value of this shape may hold.
    pub(crate) fn holds(&self) -> Vec<&Ty> {
        match self {
            Self::Object(object) => {
                let rest = match &object.rest {
                    Rest::Typed(ty) => Some(ty),
                    Rest::Open | Rest::Closed => None,
                };
                let members = object.members.iter().map(|member| &member.ty);
                members.chain(rest).collect()
            }
            Self::Union(union) => union.types.iter().collect(),
            Self::Newtype(ty) | Self::Alias(ty) => vec![ty],
            Self::StringEnum(_) => Vec::new(),
        }
    }
}
