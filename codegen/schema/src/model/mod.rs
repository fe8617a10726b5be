//! The protocol of one revision as plain data: a schema gives it names and shapes ([`crate::draft`]), and what is worked
//! out of these is filled in ([`crate::analyze`]).
//!
//! Everything below (emission, docs, diffs, shims, the sampler of the tests) reads the model and
//! never the schema. It is serialisable: `cargo xtask model REVISION` prints it.

mod frame;
mod plan;
mod ty;

use crate::Markdown;
use crate::pointer;
use crate::sorted::{SortedMap, SortedSet};

use serde::Serialize;

use crate::decision::Decision;
pub use crate::rules::InitialValue;
use crate::schema::{Constraints, Schema};

pub use frame::{FrameMember, SchemaFrame};
pub use plan::{Case, KindCase, UnionPlan};
pub use ty::{Direction, MethodKind, ModelMethod, Presence, Rest, Ty};

/// One revision: its types and its methods.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// Every type, by Rust name.
    pub types: SortedMap<String, TypeDef>,
    /// Every method, in order of direction, kind and name.
    pub methods: Vec<ModelMethod>,
    /// The schema that it was made of: it says more of what the types keep as text.
    #[serde(skip)]
    pub schema: Schema,
}

/// A model, what was open on the way to it, and what the schema says of itself where it still has prose.
#[derive(Debug, Clone)]
pub struct BuiltModel {
    /// The model.
    pub model: Model,
    /// Prose by `Type` or `Type.member`.
    pub prose: SortedMap<String, Markdown>,
    /// The open questions of the schema, each with a safe answer.
    pub decisions: Vec<Decision>,
}

impl Model {
    /// Returns the type with this Rust name.
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.types.get(name)
    }

    /// Returns the shape of the type with this Rust name.
    pub fn shape(&self, name: &str) -> Option<&Shape> {
        self.get(name).map(|def| &def.shape)
    }

    /// Returns the object that a type stands for, if it does.
    pub fn object<'m>(&'m self, ty: &'m Ty) -> Option<&'m ObjectShape> {
        self.shape_of(ty)?.object()
    }

    /// Returns the shape of the type of this model that a type stands for, if it does.
    pub fn shape_of<'m>(&'m self, ty: &'m Ty) -> Option<&'m Shape> {
        self.shape(self.resolve(ty).name()?)
    }

    /// Returns the places of the variants that hold a definition, as rules call them: `Union|Variant`.
    pub fn places_of_variant(&self, definition: &str) -> Vec<String> {
        let held = |ty: &Ty| {
            let def = self.get(self.resolve(ty).name()?)?;
            def.definition.as_deref()
        };
        let mut places = Vec::new();
        for def in self.types.values() {
            let Shape::Union(union) = &def.shape else {
                continue;
            };
            let variants = union.variants.iter();
            let own = variants.filter(|variant| held(&variant.ty) == Some(definition));
            places.extend(own.map(|variant| format!("{}|{}", def.doc_key, variant.name)));
        }
        places
    }

    /// Returns the type of a schema definition, by the definition's name.
    pub fn definition(&self, definition: &str) -> Option<&TypeDef> {
        self.types
            .values()
            .find(|ty| ty.definition.as_deref() == Some(definition))
    }

    /// Returns the type at the end of its aliases.
    pub fn resolve<'m>(&'m self, mut ty: &'m Ty) -> &'m Ty {
        // Building a model refuses alias cycles, so this ends.
        while let Ty::Named(name) = ty {
            match self.shape(name) {
                Some(Shape::Alias(target)) => ty = target,
                _ => break,
            }
        }
        ty
    }

    /// Returns the named types that a shape holds by value. Those of further members lie in a map, and so on the heap.
    pub(crate) fn types_by_value(&self, shape: &Shape) -> SortedSet<String> {
        let by_value = |ty: &&Ty| Some(self.resolve(ty).by_value()?.clone());
        let held = shape.holds();
        let members = shape
            .object()
            .map_or(held.len(), |object| object.members.len());
        held[..members].iter().filter_map(by_value).collect()
    }
}

/// A named Rust type and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypeDef {
    /// The Rust name.
    pub name: String,
    /// The name of the schema definition; absent for a type hoisted from an inline schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The schemas of the type: `Tool`, or `Tool.annotations` for an inline schema.
    /// Several places share a type where their schemas are equal and their names are the same.
    pub places: Vec<String>,
    /// JSON pointer to the schema that it was made of, the first of several; empty for what no schema spells out.
    /// By it the model is joined with the schema, where that says more.
    #[serde(skip)]
    pub pointer: String,
    /// The name under which `docs.toml` keeps the lines of this type.
    pub doc_key: String,
    /// The source file of the generated crate that holds it.
    pub area: String,
    /// Set if the schema marks it as deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// The shape of the type.
    pub shape: Shape,
}

impl TypeDef {
    /// Returns its location, for errors: a JSON pointer for a definition, its places for an inline schema.
    pub fn at(&self) -> String {
        match &self.definition {
            Some(definition) => format!("/$defs/{}", pointer::escaped(definition)),
            None => self.places.join(", "),
        }
    }
}

/// The shape of a type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A struct: named members and, where the schema is open, the rest.
    Object(ObjectShape),
    /// One of several types, decided by a plan.
    Union(Union),
    /// One of a fixed set of strings.
    StringEnum(Vec<String>),
    /// Any string, some of which have names.
    OpenEnum(Vec<String>),
    /// A type of its own around a scalar.
    Newtype(Ty),
    /// Another name for a type.
    Alias(Ty),
}

impl Shape {
    /// Returns the object that it is, if it is one.
    pub fn object(&self) -> Option<&ObjectShape> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the scalar whose values are all of its values, if it is one.
    pub fn scalar(&self) -> Option<&Ty> {
        match self {
            Self::Newtype(ty) => Some(ty),
            Self::OpenEnum(_) => Some(&Ty::String),
            Self::Object(_) | Self::Union(_) | Self::StringEnum(_) | Self::Alias(_) => None,
        }
    }

    /// Returns the types that a value of this shape may hold.
    pub fn holds(&self) -> Vec<&Ty> {
        match self {
            Self::Object(object) => {
                let rest = match &object.rest {
                    Rest::Typed(ty) => Some(ty),
                    Rest::Open | Rest::Closed => None,
                };
                let members = object.members.iter().map(|member| &member.ty);
                members.chain(rest).collect()
            }
            Self::Union(union) => union.types().collect(),
            Self::Newtype(ty) | Self::Alias(ty) => vec![ty],
            Self::StringEnum(_) | Self::OpenEnum(_) => Vec::new(),
        }
    }
}

/// An object with named members.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjectShape {
    /// The named members, in order of their wire names.
    pub members: Vec<Member>,
    /// The values of unnamed members.
    pub rest: Rest,
}

impl ObjectShape {
    /// Returns the member with this name on the wire.
    pub fn member(&self, wire: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.wire == wire)
    }
}

/// A named member of an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// The name on the wire.
    pub wire: String,
    /// The name of the Rust field.
    pub field: String,
    /// The presence: required or not.
    pub presence: Presence,
    /// The type of its value.
    pub ty: Ty,
    /// Set if the value sits in a `Box`, because the type would contain itself otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub boxed: bool,
    /// The source of the value in a constructor.
    #[serde(skip_serializing_if = "Given::is_later")]
    pub given: Given,
    /// The schema of a value that is kept as text, if it is more than its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<SchemaFrame>,
    /// Limits that the schema puts on the value; documented, not enforced.
    #[serde(skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// Set if the schema marks it as deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// The source of a member's value in a constructor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Not at all: the member need not be there, or is a constant.
    Later,
    /// It takes it.
    Taken(ConstructorArgument),
    /// It knows one to start from.
    Start(InitialValue),
}

/// The argument of a constructor for a member.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ConstructorArgument {
    /// After those of lower ranks.
    pub rank: usize,
    /// By this word of `mcp_wire::args`, because another text stands beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
}

impl Given {
    fn is_later(&self) -> bool {
        *self == Self::Later
    }
}

/// One of several types.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Union {
    /// The choices, in the order of the schema.
    pub variants: Vec<Variant>,
    /// The plan by which a reader tells them apart.
    pub plan: UnionPlan,
    /// The variant that reading starts from; absent where that is the unknown one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// Set if an unknown discriminator is kept as a case of its own (messages of unknown methods).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Union {
    /// The variant of an open union that keeps what no other one is.
    pub const UNKNOWN: &str = "Unknown";

    /// Returns the union of some types, not yet decided: its variants have no names.
    pub(crate) fn of(types: Vec<Ty>, open: bool) -> Self {
        let variants = types.into_iter().map(|ty| Variant {
            name: String::new(),
            ty,
            boxed: false,
        });
        Self {
            variants: variants.collect(),
            plan: UnionPlan::Take(0),
            start: None,
            open,
        }
    }

    /// Returns the types of its variants.
    pub fn types(&self) -> impl Iterator<Item = &Ty> {
        self.variants.iter().map(|variant| &variant.ty)
    }
}

/// A choice of a union.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// The Rust name of the variant.
    pub name: String,
    /// The type that it holds.
    pub ty: Ty,
    /// Set if it sits in a `Box`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub boxed: bool,
}
