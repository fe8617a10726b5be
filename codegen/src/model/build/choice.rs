//! Unions and string enums: what a schema lists to choose from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Builder;
use crate::Error;
use crate::analyze::plan::Plan;
use crate::model::naming::pascal_case;
use crate::model::{Shape, Ty, Union, variants};
use crate::schema::{JsonType, Node};
use crate::spec::roles::ROLES;

impl Builder<'_> {
    pub(super) fn union(&mut self, node: &Node, place: &str) -> Result<Shape, Error> {
        let mut kinds = Vec::new();
        for (index, variant) in node.any_of.iter().enumerate() {
            // An inline variant is named after its position: `JSONRPCMessage.2`.
            let place = format!("{place}.{index}");
            // `type: [string, integer]` inside a union is that many variants.
            if variant.types.len() > 1 {
                for ty in &variant.types {
                    let one = Node {
                        types: vec![*ty],
                        ..variant.clone()
                    };
                    kinds.push(self.ty(&one, &place)?);
                }
            } else {
                kinds.push(self.ty(variant, &place)?);
            }
        }
        Ok(self.union_of(kinds, place))
    }

    pub(super) fn scalar_union(&mut self, node: &Node, place: &str) -> Result<Shape, Error> {
        let kinds = self.scalars(node)?;
        Ok(self.union_of(kinds, place))
    }

    pub(super) fn scalars(&mut self, node: &Node) -> Result<Vec<Ty>, Error> {
        let scalar = |ty: &JsonType| match ty {
            JsonType::String => Some(Ty::String),
            JsonType::Boolean => Some(Ty::Boolean),
            JsonType::Integer => Some(Ty::Integer),
            JsonType::Number => Some(Ty::Number),
            JsonType::Object => Some(Ty::JsonObject),
            JsonType::Array => Some(Ty::JsonArray),
            JsonType::Null => None,
        };
        (node.types.iter().map(scalar).collect::<Option<Vec<Ty>>>()).ok_or_else(|| {
            self.error(
                node,
                "a list of types, `null` beside one other at most",
                &format!("{:?}", node.types),
                "mend it with an erratum",
            )
        })
    }

    pub(super) fn union_of(&self, mut kinds: Vec<Ty>, place: &str) -> Shape {
        let mut seen = BTreeSet::new();
        kinds.retain(|ty| seen.insert(ty.clone()));
        Shape::Union(Union {
            variants: variants::named(place, &kinds),
            plan: Plan::Take(0),
            open: ROLES.iter().any(|role| role.union == place),
        })
    }

    /// The strings of an `enum`, or of a `const` that is not a required member.
    pub(super) fn choices(&self, node: &Node) -> Result<Option<Vec<String>>, Error> {
        if let Some(Value::String(only)) = &node.constant {
            return Ok(Some(vec![only.clone()]));
        }
        let Some(choices) = &node.choices else {
            return Ok(None);
        };
        let strings: Option<Vec<String>> = choices
            .iter()
            .map(|choice| choice.as_str().map(str::to_owned))
            .collect();
        match strings {
            Some(strings) if !strings.is_empty() => {
                let mut names: Vec<String> = strings.iter().map(|text| pascal_case(text)).collect();
                names.sort();
                if names.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Err(self.error(
                        node,
                        "choices whose Rust names differ",
                        &format!("{strings:?}"),
                        "turn the enumeration into a plain string with an erratum",
                    ));
                }
                Ok(Some(strings))
            }
            _ => Err(self.error(
                node,
                "an `enum` of strings",
                &Value::Array(choices.clone()).to_string(),
                "replace it by its type with an erratum",
            )),
        }
    }
}
