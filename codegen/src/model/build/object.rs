//! Objects: their members, in order, with what the schema demands of each.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Builder;
use crate::Error;
use crate::model::naming::snake_case;
use crate::model::{Member, Object, Presence, Rest, Ty};
use crate::schema::{Additional, Constraints, Node};

/// How many named members a reader can keep apart.
const MAX_MEMBERS: usize = 128;

impl Builder<'_> {
    pub(super) fn object(&mut self, node: &Node, place: &str) -> Result<Object, Error> {
        let mut members = Vec::new();
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for (wire, property) in &node.properties {
            let member = self.member(node, wire, property, place)?;
            if let Some(other) = fields.insert(member.field.clone(), wire.clone()) {
                return Err(self.error(
                    property,
                    "a field name of its own",
                    &format!("`{}`, which `{other}` has", member.field),
                    &format!("add \"{place}.{wire}\" to [members] in spec/names.toml"),
                ));
            }
            members.push(member);
        }
        // `required` may name a member that `properties` does not: any JSON, but there.
        for wire in &node.required {
            if !node.properties.contains_key(wire) {
                let any = Node {
                    pointer: node.pointer.clone(),
                    ..Node::default()
                };
                members.push(self.member(node, wire, &any, place)?);
            }
        }
        members.sort_by(|left, right| left.wire.cmp(&right.wire));
        if members.len() > MAX_MEMBERS {
            return Err(self.error(
                node,
                &format!("at most {MAX_MEMBERS} named members"),
                &members.len().to_string(),
                "read it as opaque JSON with a [[shape]] in spec/shapes.toml",
            ));
        }
        let rest = match &node.additional {
            Additional::Any => Rest::Open,
            Additional::Forbidden => Rest::Closed,
            Additional::Schema(value) => Rest::Typed(self.ty(value, &format!("{place}{{}}"))?),
        };
        Ok(Object { members, rest })
    }

    pub(super) fn member(
        &mut self,
        node: &Node,
        wire: &str,
        property: &Node,
        place: &str,
    ) -> Result<Member, Error> {
        self.keep_prose(property, format!("{place}.{wire}"));
        let required = node.required.contains(wire);
        let presence = match &property.constant {
            Some(value) if required => Presence::Constant(value.clone()),
            _ if required => Presence::Required,
            _ => Presence::Optional,
        };
        let ty = match &presence {
            Presence::Constant(Value::String(_)) => Ty::String,
            Presence::Constant(Value::Number(number)) if number.is_i64() => Ty::Integer,
            Presence::Constant(value) => {
                return Err(self.error(
                    property,
                    "a constant that is a string or an integer",
                    &value.to_string(),
                    "replace the constant by its type with an erratum",
                ));
            }
            _ => match self.ty(property, &format!("{place}.{wire}"))? {
                // `null` for an optional member is read as its absence.
                Ty::Nullable(inner) if !required => *inner,
                ty => ty,
            },
        };
        let field = match self.rules.field_name(place, wire) {
            Some(field) => field.to_owned(),
            None => snake_case(wire),
        };
        Ok(Member {
            wire: wire.to_owned(),
            field,
            presence,
            ty,
            boxed: false,
            constraints: constraints(property),
            deprecated: property.deprecated,
        })
    }
}

/// The limits of a value, and those of its items under a name of their own.
fn constraints(node: &Node) -> Constraints {
    let mut all = node.constraints.clone();
    let mut inner = node.items.as_deref();
    let mut prefix = String::from("[]");
    while let Some(node) = inner {
        for (name, value) in &node.constraints.values {
            all.values.insert(format!("{prefix}{name}"), value.clone());
        }
        prefix.push_str("[]");
        inner = node.items.as_deref();
    }
    all
}
