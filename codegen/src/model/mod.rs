//! The protocol of one revision as plain data.
//!
//! Everything below (emission, docs, diffs, shims, the sampler of the tests) reads the model and
//! never the schema. It is serialisable: `cargo xtask model REVISION` prints it.

mod build;
pub(crate) mod flatten;
mod methods;
pub mod naming;
mod reach;
pub(crate) mod variants;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::analyze::{recursion, union};
use crate::decision::{Decision, Scope};
use crate::rules::Rules;
use crate::schema::{Constraints, Schema};
use crate::spec::json;
use crate::spec::methods::MethodRules;

pub use crate::analyze::plan::{Case, KindCase, Plan};

/// One revision: its types and its methods.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// Every type, by Rust name.
    pub types: BTreeMap<String, TypeDef>,
    /// Every method, in order of direction, kind and name.
    pub methods: Vec<Method>,
}

/// A model, what was open on the way to it, and what the schema says of itself where it still has prose.
#[derive(Debug, Clone)]
pub struct Built {
    /// The model.
    pub model: Model,
    /// Prose by `Type` or `Type.member`.
    pub prose: BTreeMap<String, String>,
    /// What the schema leaves open, and the model has a safe answer for.
    pub decisions: Vec<Decision>,
}

impl Model {
    /// Works out the model of a schema in canonical form.
    ///
    /// `scope` says whose schema it is, and picks the rules of one revision; `prose` is the
    /// schema's own, by JSON pointer.
    ///
    /// # Errors
    /// What cannot be typed, each with its place and the rule that would settle it.
    pub fn build(
        schema: &Value,
        scope: &Scope,
        rules: &Rules,
        methods: &MethodRules,
        prose: &BTreeMap<String, String>,
    ) -> Result<Built, Error> {
        let file = &scope.to_string();
        let schema = Schema::parse(schema, file)?;
        let built = build::build(&schema, rules, prose)?;
        let mut model = Self {
            types: built.types,
            methods: Vec::new(),
        };
        recursion::check_aliases(&model, file)?;
        let defined = |definition: &str| schema.definitions.contains_key(definition);
        let decisions = methods::fill(&mut model, scope, methods, |method| match scope {
            Scope::Revision(id) => methods.result(id, method),
            _ => methods.result_among(method, defined),
        })?;
        union::plan_all(&mut model, rules, file)?;
        recursion::box_cycles(&mut model);
        reach::check_areas(&model, file, |method| methods.area(method).to_owned())?;
        reach::assign_areas(&mut model, |method| methods.area(method).to_owned());
        Ok(Built {
            model,
            prose: built.prose,
            decisions,
        })
    }

    /// The type with this Rust name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.types.get(name)
    }

    /// The type of a schema definition, by the definition's name.
    #[must_use]
    pub fn definition(&self, definition: &str) -> Option<&TypeDef> {
        self.types
            .values()
            .find(|ty| ty.definition.as_deref() == Some(definition))
    }

    /// What a type stands for once aliases are followed.
    #[must_use]
    pub fn resolve<'m>(&'m self, mut ty: &'m Ty) -> &'m Ty {
        // Building a model refuses alias cycles, so this ends.
        while let Ty::Named(name) = ty {
            match self.get(name).map(|def| &def.shape) {
                Some(Shape::Alias(target)) => ty = target,
                _ => break,
            }
        }
        ty
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
    /// Where the type stands: `Tool`, or `Tool.annotations` for an inline schema.
    /// Several places share a type where their schemas are equal and their names are the same.
    pub places: Vec<String>,
    /// The name under which `docs.toml` keeps the lines of this type.
    pub doc_key: String,
    /// The source file of the generated crate that holds it.
    pub area: String,
    /// Whether the schema marks it as deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// What the type is.
    pub shape: Shape,
}

impl TypeDef {
    /// Where it stands, for errors: a JSON pointer for a definition, its places for an inline schema.
    pub(crate) fn at(&self) -> String {
        match &self.definition {
            Some(definition) => format!("/$defs/{}", json::segment(definition)),
            None => self.places.join(", "),
        }
    }
}

/// What a type is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A struct: named members and, where the schema is open, the rest.
    Object(Object),
    /// One of several types, decided by a plan.
    Union(Union),
    /// One of a fixed set of strings.
    StringEnum(Vec<String>),
    /// A type of its own around a scalar.
    Newtype(Ty),
    /// Another name for a type.
    Alias(Ty),
}

/// An object with named members.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    /// The named members, in order of their wire names.
    pub members: Vec<Member>,
    /// What may stand beside them.
    pub rest: Rest,
}

/// What may stand beside the named members of an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// Any member; kept as opaque JSON.
    Open,
    /// Members of one type.
    Typed(Ty),
    /// Nothing: another member is an error.
    Closed,
}

/// A named member of an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// The name on the wire.
    pub wire: String,
    /// The name of the Rust field.
    pub field: String,
    /// Whether it must be there.
    pub presence: Presence,
    /// What its value is.
    pub ty: Ty,
    /// Whether the value sits in a `Box`, because the type would contain itself otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub boxed: bool,
    /// Limits that the schema puts on the value; documented, not enforced.
    #[serde(skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// Whether the schema marks it as deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// Whether a member must be there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
    /// It must, with this value; not a field in Rust.
    Constant(Value),
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, PartialOrd, Eq, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ty {
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// A number without fraction, of any size.
    Integer,
    /// Any number.
    Number,
    /// Any JSON value, kept as text.
    Json,
    /// Any JSON object, kept as text.
    JsonObject,
    /// Any JSON array, kept as text.
    JsonArray,
    /// A value or `null`, where `null` says something else than absence.
    Nullable(Box<Ty>),
    /// A list.
    Array(Box<Ty>),
    /// An object whose members are all of one type.
    Map(Box<Ty>),
    /// A type of this model, by Rust name.
    Named(String),
    /// A type of a hand-written crate, by path, and the types that stand for it in the model.
    Runtime(String, Vec<Ty>),
}

/// One of several types.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Union {
    /// The choices, in the order of the schema.
    pub variants: Vec<Variant>,
    /// How a reader tells them apart.
    pub plan: Plan,
    /// Whether an unknown discriminator is kept as a case of its own (messages of unknown methods).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Union {
    /// The variant of an open union that keeps what no other one is.
    pub const UNKNOWN: &str = "Unknown";
}

/// A choice of a union.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// The Rust name of the variant.
    pub name: String,
    /// What it holds.
    pub ty: Ty,
    /// Whether it sits in a `Box`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub boxed: bool,
}

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The client sends, the server answers.
    ClientToServer,
    /// The server sends, the client answers.
    ServerToClient,
}

/// What kind of message a method is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodKind {
    /// Answered with a result or an error.
    Request,
    /// Never answered.
    Notification,
    /// A request carried inside a result, answered in the next call.
    Input,
}

/// A method of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// The `method` string.
    pub name: String,
    /// Who sends it.
    pub direction: Direction,
    /// Request, notification or embedded request.
    pub kind: MethodKind,
    /// The type of the whole message, by Rust name.
    pub message: String,
    /// The type of `params`; absent where the message has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Ty>,
    /// Whether `params` must be there.
    pub params_required: bool,
    /// The type of the result; absent for notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Ty>,
    /// Whether the result may ask for input first.
    pub input_required: bool,
    /// The member of the params that says what the request is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
    /// The capability that the receiver has to have declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
}
