//! The part of a schema that is about a value which its type keeps as text.

use serde::Serialize;
use serde_json::Value;

use crate::schema::{Additional, JsonType, SchemaNode};

/// The part of a schema that is about a value which its type keeps as text, as `mcp_wire::Frame` has it: a conversion checks it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaFrame {
    /// Any value, or one of which more is said than this can hold.
    Any,
    /// This string.
    Constant(String),
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// A list whose entries are all of one kind.
    List(Box<SchemaFrame>),
    /// An object whose members are all of one kind.
    Each(Box<SchemaFrame>),
    /// An object with these members among others.
    Members(Vec<FrameMember>),
}

/// A member of an object that is kept as text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameMember {
    /// The name on the wire.
    pub wire: String,
    /// Set if it must be there.
    pub required: bool,
    /// The schema of its value.
    pub value: SchemaFrame,
}

impl SchemaFrame {
    /// Returns the frame of a schema.
    pub(crate) fn of(node: &SchemaNode) -> Self {
        let is_choice = node.reference.is_some()
            || node.unsupported.is_some()
            || !node.any_of.is_empty()
            || !node.all_of.is_empty();
        match (&node.constant, &node.types[..]) {
            _ if is_choice => Self::Any,
            (Some(Value::String(text)), _) => Self::Constant(text.clone()),
            (_, [JsonType::String]) => Self::String,
            (_, [JsonType::Boolean]) => Self::Boolean,
            (_, [JsonType::Array]) => {
                Self::List(Box::new(node.items.as_deref().map_or(Self::Any, Self::of)))
            }
            (_, [] | [JsonType::Object]) if !node.properties.is_empty() => {
                let members = node.properties.iter().map(|(wire, property)| FrameMember {
                    wire: wire.clone(),
                    required: node.required.contains(wire),
                    value: Self::of(property),
                });
                Self::Members(members.collect())
            }
            (_, [JsonType::Object]) => match &node.additional {
                Additional::Schema(each) => Self::Each(Box::new(Self::of(each))),
                Additional::Any | Additional::Forbidden => Self::Object,
            },
            _ => Self::Any,
        }
    }

    /// Returns whether an object of this name, or one in it, is one that a rule calls by its own, and has the member.
    pub(crate) fn has_member(&self, name: &str, of: &str, member: &str) -> bool {
        let Self::Members(members) = self else {
            return false;
        };
        members.iter().any(|one| {
            (name == of && one.wire == member)
                || (one.value).has_member(&format!("{name}.{}", one.wire), of, member)
        })
    }
}
