//! A JSON Schema file as plain data: the keywords that types are made of as members, all others as they stand.
//!
//! [`Schema::parse`] reads the canonical form that `spec::canonical` writes.
//! A keyword that is not known here is kept with its JSON pointer, and one that the rest of a [`SchemaNode`] does not say is
//! a [`Unsupported`]: a keyword that is skipped in silence is a wire fact that is lost in silence.

pub mod applied;
pub mod decimal;
mod parse;

pub(crate) use parse::is_of_vendor;
pub use parse::{KNOWN, subschema};

use crate::sorted::{SortedMap, SortedSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One schema file: what its definitions say, and its text.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// The file the schema came from, for error messages.
    pub file: String,
    /// The file as it stands.
    pub root: Value,
    /// The definitions under `$defs`.
    pub definitions: SortedMap<String, SchemaNode>,
    /// Unknown keywords, by the JSON pointer of each: they have no effect on what is valid.
    pub unknown: SortedMap<String, Value>,
}

/// Two files are one schema if they say the same, wherever they lie.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// A JSON type name of the `type` keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JsonType {
    /// `array`
    Array,
    /// `boolean`
    Boolean,
    /// `integer`
    Integer,
    /// `null`
    Null,
    /// `number`
    Number,
    /// `object`
    Object,
    /// `string`
    String,
}

impl JsonType {
    /// All of them; every integer is a number.
    pub const ALL: &[Self] = &[
        Self::Array,
        Self::Boolean,
        Self::Null,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    /// The kinds that a reader sees before it reads on, in the order in which it looks: a whole number is apart from others.
    pub const KINDS: [Self; 7] = [
        Self::Object,
        Self::Array,
        Self::String,
        Self::Integer,
        Self::Number,
        Self::Boolean,
        Self::Null,
    ];

    /// Returns the name for the `type` keyword.
    pub fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// Returns a value of it, as people say it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Array => "a list",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Null => "null",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::String => "a string",
        }
    }

    /// Reads a name of the `type` keyword.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KINDS.into_iter().find(|ty| ty.name() == name)
    }

    /// Returns whether a value is of this type.
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::Array => value.is_array(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Null => value.is_null(),
            Self::Number => value.is_number(),
            Self::Object => value.is_object(),
            Self::String => value.is_string(),
        }
    }
}

/// The meaning of `additionalProperties` for unnamed members.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Additional {
    /// Absent, `true` or `{}`: any member may stand there.
    #[default]
    Any,
    /// `false`: no other member is valid.
    Forbidden,
    /// A schema that every other member must meet.
    Schema(Box<SchemaNode>),
}

/// Limits on a value that change what is valid, but not its Rust type.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Constraints {
    /// `minimum`, `maximum`, `maxItems`, `format`, ... with their values, as they stand.
    #[serde(flatten)]
    pub values: SortedMap<String, Value>,
}

impl Constraints {
    /// Returns whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether a bound admits less than the one before it; `None` for two values that are not bounds.
    pub fn is_tighter(name: &str, before: &Value, now: &Value) -> Option<bool> {
        let (before, now) = (before.as_f64()?, now.as_f64()?);
        let bound = name.trim_start_matches("exclusive").to_lowercase();
        match bound.get(..3)? {
            "min" => Some(now > before),
            "max" => Some(now < before),
            _ => None,
        }
    }
}

/// One schema object, with the place where it stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchemaNode {
    /// JSON pointer of this node in its file.
    pub pointer: String,
    /// The definition named by `$ref`.
    pub reference: Option<String>,
    /// `type`; empty where it is absent.
    pub types: Vec<JsonType>,
    /// `const`.
    pub constant: Option<Value>,
    /// `enum`.
    pub choices: Option<Vec<Value>>,
    /// `properties`; absent and empty mean the same.
    pub properties: SortedMap<String, SchemaNode>,
    /// `required`.
    pub required: SortedSet<String>,
    /// `additionalProperties`.
    pub additional: Additional,
    /// `items`.
    pub items: Option<Box<SchemaNode>>,
    /// `anyOf` or `oneOf`.
    pub any_of: Vec<SchemaNode>,
    /// `allOf`.
    pub all_of: Vec<SchemaNode>,
    /// Limits such as `minimum` and `format`.
    pub constraints: Constraints,
    /// `deprecated`.
    pub deprecated: bool,
    /// Keywords that stand here and that no other member holds: a comparison of schemas reads them, a type does not.
    pub unsaid: SortedMap<String, Value>,
    /// The part of the schema that no type can express.
    pub unsupported: Option<Box<Unsupported>>,
}

/// A schema that means something, and that the members of a [`SchemaNode`] do not say whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// JSON pointer of what does not fit.
    pub pointer: String,
    /// The values that the generator can read there.
    pub expected: String,
    /// The value that stands there.
    pub found: String,
    /// Set if it never comes to an end, so that no JSON satisfies it.
    pub endless: bool,
}

impl Unsupported {
    /// Something that has an end.
    pub(crate) fn new(
        node: &SchemaNode,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            pointer: node.pointer.clone(),
            expected: expected.into(),
            found: found.into(),
            endless: false,
        }
    }
}

impl SchemaNode {
    /// Returns whether the node says nothing at all: any JSON value meets it.
    pub fn is_any(&self) -> bool {
        self.reference.is_none()
            && self.types.is_empty()
            && self.constant.is_none()
            && self.choices.is_none()
            && self.properties.is_empty()
            && self.required.is_empty()
            && self.additional == Additional::Any
            && self.items.is_none()
            && self.any_of.is_empty()
            && self.all_of.is_empty()
            && self.unsupported.is_none()
    }

    /// Returns whether the node describes an object, by its type or by its members.
    pub fn is_object(&self) -> bool {
        self.types == [JsonType::Object] || (self.types.is_empty() && self.has_members())
    }

    /// Returns whether it says something of members, with names or without.
    pub fn has_members(&self) -> bool {
        !self.properties.is_empty()
            || !self.required.is_empty()
            || self.additional != Additional::Any
    }

    /// Returns whether it says anything besides what is taken out of it.
    pub fn says_more_than(&self, take: impl FnOnce(&mut Self)) -> bool {
        let mut rest = self.clone();
        take(&mut rest);
        !rest.is_any()
    }
}
