//! Counts the members of messages that their revision does not name, by the type that they are in.

use std::collections::BTreeMap;

use mcp_revisions_core::Revision;
use mcp_revisions_schema::Spec;
use mcp_revisions_schema::decision::Scope;
use mcp_revisions_schema::model::{Model, Rest, Shape, Ty, UnionPlan};
use mcp_revisions_schema::rules::Rules;
use mcp_revisions_schema::schema::JsonType;
use mcp_revisions_schema::sorted::SortedMap;
use mcp_revisions_schema::spec::methods::MethodRules;
use serde_json::Value;

use super::said::TranscriptMessage;
use crate::embedded;
use crate::revisions::{known_methods, result_type};

/// The counts, and a model of each revision that is spoken, built for its first message.
#[derive(Debug)]
pub(crate) struct Unknown {
    spec: Spec,
    rules: Rules,
    methods: MethodRules,
    models: BTreeMap<Revision, Option<Model>>,
    /// Number of occurrences of each unknown member, by `Type.member`.
    pub(crate) members: BTreeMap<String, usize>,
}

impl Unknown {
    /// Reads the embedded spec. Fails if it is not valid.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let spec = embedded::spec()?;
        Ok(Self {
            rules: Rules::read(&spec.rules)?,
            methods: MethodRules::read(&spec)?,
            spec,
            models: BTreeMap::new(),
            members: BTreeMap::new(),
        })
    }

    /// Counts the unknown members of a message.
    pub(crate) fn look(&mut self, said: &TranscriptMessage) {
        let Ok(Value::Object(message)) = serde_json::from_str(&said.text) else {
            return;
        };
        let Some(method) = said.method.as_deref() else {
            return;
        };
        let is_call = message.contains_key("method");
        let row = known_methods(said.revision, method)
            .find(|row| !is_call || row.direction == said.direction);
        let Some(row) = row else { return };
        let value = Value::Object(message);
        let (name, value) = if is_call {
            (row.params, value.get("params"))
        } else {
            let result = value.get("result");
            let text = result.map(Value::to_string).unwrap_or_default();
            let ty = result_type(said.revision, method, &text);
            (ty.map(|ty| ty.name), result)
        };
        if let (Some(name), Some(value)) = (name, value) {
            self.of_type(said.revision, name, value);
        }
    }

    fn of_type(&mut self, revision: Revision, definition: &str, value: &Value) {
        let Some(name) = revision.type_named(definition).map(|ty| ty.rust_name) else {
            return;
        };
        let (spec, rules, methods) = (&self.spec, &self.rules, &self.methods);
        let model = self.models.entry(revision).or_insert_with(|| {
            let schema = &spec.revision(revision.id()).ok()?.schema;
            let scope = Scope::Revision(revision.id().to_owned());
            let built = Model::build(schema, &scope, rules, methods, &SortedMap::new());
            Some(built.ok()?.model)
        });
        if let Some(model) = model {
            let members = &mut self.members;
            UnknownWalk { model, members }.named(name, value);
        }
    }
}

struct UnknownWalk<'w> {
    model: &'w Model,
    members: &'w mut BTreeMap<String, usize>,
}

impl UnknownWalk<'_> {
    fn ty(&mut self, ty: &Ty, value: &Value) {
        match (ty, value) {
            (Ty::Named(name), value) => self.named(name, value),
            (Ty::Nullable(inner), value) => self.ty(inner, value),
            (Ty::Array(inner), Value::Array(items)) => {
                items.iter().for_each(|item| self.ty(inner, item));
            }
            (Ty::Map(inner), Value::Object(members)) => {
                members.values().for_each(|member| self.ty(inner, member));
            }
            _ => {}
        }
    }

    /// Recurses as deep as the text is nested, which serde_json limits.
    fn named(&mut self, name: &str, value: &Value) {
        let model = self.model;
        match model.get(name).map(|def| &def.shape) {
            Some(Shape::Alias(ty)) => self.ty(ty, value),
            Some(Shape::Union(union)) => {
                let taken = take(&union.plan, value).and_then(|at| union.variants.get(at));
                if let Some(variant) = taken {
                    self.ty(&variant.ty, value);
                }
            }
            Some(Shape::Object(object)) => {
                let Value::Object(members) = value else {
                    return;
                };
                for (wire, value) in members {
                    let known = object.members.iter().find(|member| member.wire == *wire);
                    match (known, &object.rest) {
                        (Some(member), _) => {
                            // A key in `_meta` belongs to its vendor.
                            if member.wire != "_meta" {
                                self.ty(&member.ty, value);
                            }
                        }
                        (None, Rest::Typed(ty)) => self.ty(ty, value),
                        (None, Rest::Open | Rest::Closed) => {
                            *self.members.entry(format!("{name}.{wire}")).or_default() += 1;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the index of the variant that a plan chooses.
fn take(plan: &UnionPlan, value: &Value) -> Option<usize> {
    match plan {
        UnionPlan::Take(at) => Some(*at),
        UnionPlan::Kind(cases) => {
            let kind = kind(value);
            let case = cases.iter().find(|case| case.kinds.contains(&kind))?;
            take(&case.plan, value)
        }
        UnionPlan::Tag {
            member,
            cases,
            other,
            absent,
        } => match value.get(member).and_then(Value::as_str) {
            Some(tag) => {
                let case = cases.iter().find(|case| case.value == tag);
                take(
                    case.map_or(other.as_deref(), |case| Some(&case.plan))?,
                    value,
                )
            }
            None => take(absent.as_deref()?, value),
        },
        UnionPlan::First(cases) => {
            let case = cases.iter().find(|case| value.get(&case.value).is_some())?;
            take(&case.plan, value)
        }
        UnionPlan::Present { cases, otherwise } => {
            let there = |path: &str| {
                path.split('.')
                    .try_fold(value, |value, name| value.get(name))
                    .is_some()
            };
            let case = cases.iter().find(|case| there(&case.value));
            take(
                case.map_or(otherwise.as_deref(), |case| Some(&case.plan))?,
                value,
            )
        }
        UnionPlan::Element { plan, empty } => match value.as_array()?.first() {
            Some(first) => take(plan, first),
            None => Some(*empty),
        },
    }
}

fn kind(value: &Value) -> JsonType {
    match value {
        Value::Object(_) => JsonType::Object,
        Value::Array(_) => JsonType::Array,
        Value::String(_) => JsonType::String,
        Value::Number(number) if number.is_i64() || number.is_u64() => JsonType::Integer,
        Value::Number(_) => JsonType::Number,
        Value::Bool(_) => JsonType::Boolean,
        Value::Null => JsonType::Null,
    }
}
