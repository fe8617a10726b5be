//! Objects: their members, in order, with what the schema demands of each.

use crate::sorted::SortedMap;

use super::definitions::{DraftBuilder, constant, is_null};
use super::open::{file_of, renamed, since};
use crate::decision::Settle;
use crate::model::{Given, Member, ObjectShape, Presence, Rest, SchemaFrame, Ty};
use crate::naming::{is_identifier, numbered, plain, snake_case};
use crate::schema::{Additional, Constraints, SchemaNode, Unsupported};
use crate::spec::toml_text::quoted;

/// Maximum number of named members that a reader can keep apart.
const MAX_MEMBERS: usize = 128;

/// Names of fields that a struct has for something else: what no revision names, and the constructor.
const OWN: &[&str] = &["extra", "new"];

impl DraftBuilder<'_> {
    pub(super) fn object(
        &mut self,
        node: &SchemaNode,
        place: &str,
    ) -> Result<ObjectShape, Unsupported> {
        // `required` may name a member that `properties` does not: any JSON, but there.
        let any = SchemaNode {
            pointer: node.pointer.clone(),
            ..SchemaNode::default()
        };
        let bare = (node.required.iter())
            .filter(|wire| !node.properties.contains_key(*wire))
            .map(|wire| (wire, &any));
        let stated = node
            .properties
            .iter()
            .map(|(wire, property)| (wire, property));
        let mut members = Vec::new();
        let mut fields: SortedMap<String, String> = SortedMap::new();
        for (wire, property) in stated.chain(bare) {
            let mut member = self.member(node, wire, property, place);
            let fixed = matches!(member.presence, Presence::Constant(_));
            let taken_by = match fields.get(&member.field) {
                Some(other) => Some(format!("`{other}` has as the name of its field")),
                None if !fixed && OWN.contains(&member.field.as_str()) => {
                    Some("every struct has for itself".to_owned())
                }
                None if !fixed && !is_identifier(&member.field) => {
                    Some("Rust takes as no name".to_owned())
                }
                None => None,
            };
            if let Some(taken_by) = taken_by {
                let stem = format!("{}_", plain(&member.field).trim_end_matches('_'));
                let field = numbered(&stem, |field| fields.contains_key(field));
                let why = format!("is what {taken_by}, and what `{wire}` would have");
                let whole = quoted(&format!("{place}.{wire}"));
                let stub = format!(
                    "[[member]]\nat = {whole}\nname = \"{field}\"\n{}",
                    since(self.scope)
                );
                let settle = Settle::of(file_of(self.scope, "names.toml"), stub);
                let at = &property.pointer;
                let decision = renamed(self.scope, at, &member.field, &why, &field, settle);
                self.decide(decision);
                member.field = field;
            }
            fields.insert(member.field.clone(), wire.clone());
            members.push(member);
        }
        members.sort_by(|left, right| left.wire.cmp(&right.wire));
        if members.len() > MAX_MEMBERS {
            let expected = format!("at most {MAX_MEMBERS} named members");
            return Err(Unsupported::new(node, expected, members.len().to_string()));
        }
        let rest = match &node.additional {
            Additional::Any => Rest::Open,
            // The limits of members without a name are the comparison's.
            Additional::Schema(value) if value.is_any() => Rest::Open,
            Additional::Forbidden => Rest::Closed,
            Additional::Schema(value) => Rest::Typed(self.ty(value, &format!("{place}{{}}"))),
        };
        Ok(ObjectShape { members, rest })
    }

    fn member(
        &mut self,
        node: &SchemaNode,
        wire: &str,
        property: &SchemaNode,
        place: &str,
    ) -> Member {
        self.keep_prose(property, format!("{place}.{wire}"));
        let required = node.required.contains(wire);
        let fixed = property.constant.as_ref().filter(|_| required);
        let (presence, ty) = match fixed.and_then(|value| Some((value, constant(value)?))) {
            Some((value, ty)) => (Presence::Constant(value.clone()), ty),
            None => {
                let presence = if required {
                    Presence::Required
                } else {
                    Presence::Optional
                };
                (presence, self.ty(property, &format!("{place}.{wire}")))
            }
        };
        let field = match self.rules.field_name(place, wire) {
            Some(field) => field.to_owned(),
            None => snake_case(wire),
        };
        let frame = (ty == Ty::JsonObject).then(|| SchemaFrame::of(property));
        Member {
            wire: wire.to_owned(),
            field,
            presence,
            ty,
            frame: frame.filter(|frame| matches!(frame, SchemaFrame::Members(_))),
            boxed: false,
            given: Given::Later,
            constraints: constraints(property),
            deprecated: property.deprecated,
        }
    }
}

/// Returns the two choices of a schema, those that are not null.
fn choices(node: &SchemaNode) -> [Option<&SchemaNode>; 2] {
    match &node.any_of[..] {
        [one, other] => [one, other].map(|choice| (!is_null(choice)).then_some(choice)),
        _ => [None, None],
    }
}

/// Returns the limits of a value, of what it is where it is not null, and those of its items under a name of their own.
fn constraints(node: &SchemaNode) -> Constraints {
    let mut all = node.constraints.clone();
    if let [Some(one), None] | [None, Some(one)] = choices(node) {
        let limits = one.constraints.values.clone();
        all.values.extend(limits);
    }
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
