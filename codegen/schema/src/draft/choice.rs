//! Unions and string enums: what a schema lists to choose from.

use crate::sorted::SortedSet;

use serde_json::Value;

use super::definitions::DraftBuilder;
use super::flatten::flatten;
use super::open::erratum;
use crate::decision::QuestionKind;
use crate::model::{Shape, Ty, Union};
use crate::naming::{is_identifier, pascal_case};
use crate::rules::ShapeAs;
use crate::schema::{JsonType, SchemaNode, Unsupported};
use crate::spec::roles::ROLES;

impl DraftBuilder<'_> {
    pub(super) fn union(&mut self, node: &SchemaNode, place: &str) -> Shape {
        let mut types = Vec::new();
        let tags = self.tags(&node.any_of);
        for (index, variant) in node.any_of.iter().enumerate() {
            // An inline variant is named after its tag, else after its position: `JSONRPCMessage.2`.
            let place = match tags.get(index) {
                Some(tag) => format!("{place}.{tag}"),
                None => format!("{place}.{index}"),
            };
            // `type: [string, integer]` inside a union is that many variants.
            if variant.types.len() > 1 {
                for ty in &variant.types {
                    let one = SchemaNode {
                        types: vec![*ty],
                        ..variant.clone()
                    };
                    types.push(self.ty(&one, &place));
                }
            } else {
                types.push(self.ty(variant, &place));
            }
        }
        self.union_of(types, place)
    }

    /// Returns the constants by which a member tells inline objects apart, in their order; empty if none does.
    fn tags(&self, variants: &[SchemaNode]) -> Vec<String> {
        if variants.len() < 2 || variants.iter().any(|variant| variant.reference.is_some()) {
            return Vec::new();
        }
        let whole = variants.iter().map(|variant| flatten(self.schema, variant));
        let Ok(whole) = whole.collect::<Result<Vec<SchemaNode>, Unsupported>>() else {
            return Vec::new();
        };
        let constants = |member: &String| -> Option<Vec<String>> {
            let constant = |object: &SchemaNode| {
                let constant = object.properties.get(member)?.constant.as_ref()?;
                let required = object.required.contains(member);
                constant.as_str().filter(|_| required).map(str::to_owned)
            };
            let constants: Vec<String> = whole.iter().map(constant).collect::<Option<_>>()?;
            let names: SortedSet<String> = constants.iter().map(|text| pascal_case(text)).collect();
            (names.len() == constants.len()).then_some(constants)
        };
        let first = whole.iter().take(1);
        let mut members = first.flat_map(|object| object.properties.keys());
        members.find_map(constants).unwrap_or_default()
    }

    /// Returns the union of some types, each once.
    pub(super) fn union_of(&self, mut types: Vec<Ty>, place: &str) -> Shape {
        let mut seen = SortedSet::new();
        types.retain(|ty| seen.insert(ty.clone()));
        let open = ROLES.iter().any(|role| role.union == place);
        Shape::Union(Union::of(types, open))
    }

    /// Returns the strings of an `enum`, of a `const` that is not a required member, or of a rule that lets any other string
    /// stand beside them; any string, where Rust cannot name them.
    pub(super) fn choices(
        &mut self,
        node: &SchemaNode,
        place: &str,
    ) -> Result<Option<Shape>, Unsupported> {
        if let Some(Value::String(only)) = &node.constant {
            return Ok(Some(self.named_choices(node, vec![only.clone()])));
        }
        let Some(choices) = &node.choices else {
            let known = self.known_strings(node, place);
            return Ok(known.map(|known| Shape::OpenEnum(known.to_vec())));
        };
        let strings = choices
            .iter()
            .map(|choice| choice.as_str().map(str::to_owned));
        match strings.collect::<Option<Vec<String>>>() {
            Some(strings) if !strings.is_empty() => Ok(Some(self.named_choices(node, strings))),
            _ => {
                let found = Value::Array(choices.clone()).to_string();
                Err(Unsupported::new(node, "an `enum` of strings", found))
            }
        }
    }

    /// Returns the strings that a rule names among those of a node that may be any.
    pub(super) fn known_strings(&self, node: &SchemaNode, place: &str) -> Option<&[String]> {
        let is_text = node.types == [JsonType::String] && node.constant.is_none();
        let ruled =
            |shape: &ShapeAs| is_text && node.choices.is_none() && shape.named_strings().is_some();
        self.rules.shape(place, ruled)?.named_strings()
    }

    fn named_choices(&mut self, node: &SchemaNode, strings: Vec<String>) -> Shape {
        let mut names: Vec<String> = strings.iter().map(|text| pascal_case(text)).collect();
        names.sort();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        let mut all = names.iter();
        let odd = || all.find(|name| *name == "ALL" || !is_identifier(name));
        let Some(name) = twice.map(|pair| &pair[0]).or_else(odd) else {
            return Shape::StringEnum(strings);
        };
        let at = format!("{}/enum", node.pointer);
        let expect = Value::from(strings.clone()).to_string();
        let open = format!(
            "expected choices whose Rust names differ and are free, found `{name}` among those of {strings:?}"
        );
        let answer = "it is any string".to_owned();
        let settle = erratum(self.scope, &[&at], Some(&expect), "remove = true");
        let place = node.pointer.clone();
        self.decide(
            self.scope
                .asks(QuestionKind::Name, place, open, answer, settle),
        );
        Shape::Newtype(Ty::String)
    }
}
