//! The methods of a revision, read off the unions that list what each side may send.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Method, MethodKind, Model, Object, Plan, Presence, Shape, Ty, TypeDef, Union, variants,
};
use crate::Error;
use crate::decision::{Decision, Question, Scope, Settle};
use crate::schema::schema_error;
use crate::spec::json;
use crate::spec::methods::{MethodRules, ResultRule};
use crate::spec::roles::{self, ROLES, Role};

/// What a rule says answers a request.
enum Ruled {
    /// A definition of the schema.
    Definition(String),
    /// A type of that Rust name, made for the case.
    Outcome(String),
}

/// Fills in the methods; `rule` names what answers a request that the schema does not pair.
///
/// A request that may be answered in two ways gets a union of both: `CallToolOutcome`.
/// One that nothing answers is answered by the result of the generic kind, and is a decision.
pub(super) fn fill<'r>(
    model: &mut Model,
    scope: &Scope,
    rules: &MethodRules,
    rule: impl Fn(&str) -> Option<ResultRule<'r>>,
) -> Result<Vec<Decision>, Error> {
    let file = &scope.to_string();
    let mut decisions = Vec::new();
    let mut methods = Vec::new();
    let mut errors = Vec::new();
    let mut outcomes = BTreeMap::new();
    let definitions = Definitions::of(model);
    let mut listed = BTreeSet::new();
    let mut result_rule = |method: &str, stem: &str| {
        let ResultRule {
            result,
            task_result,
        } = rule(method)?;
        match task_result {
            None => Some(Ruled::Definition(result.to_owned())),
            Some(task) => {
                let name = format!("{stem}Outcome");
                outcomes.insert(name.clone(), [result.to_owned(), task.to_owned()]);
                Some(Ruled::Outcome(name))
            }
        }
    };
    for role in ROLES {
        let Some(def) = model.definition(role.union) else {
            continue;
        };
        let (names, others) = messages(model, &def.name);
        for other in others {
            errors.push(schema_error(
                file,
                &def.at(),
                "messages: objects whose `method` is one constant",
                &format!("{other:?}"),
                "mend it with an erratum",
            ));
        }
        listed.extend(names.iter().cloned());
        for name in names {
            match method(
                model,
                &definitions,
                file,
                &name,
                role,
                rules,
                &mut result_rule,
            ) {
                Ok(mut method) => {
                    if method.result.is_none() && role.kind != MethodKind::Notification {
                        let (result, decision) = generic_result(&definitions, scope, &method);
                        method.result = Some(result);
                        decisions.push(decision);
                    }
                    methods.push(method);
                }
                Err(error) => errors.push(error),
            }
        }
    }
    for def in model.types.values() {
        let stray = match &def.shape {
            Shape::Object(object) if def.definition.is_some() => method_name(object),
            _ => None,
        };
        if let Some(method) = stray
            && !listed.contains(&def.name)
        {
            let roles: Vec<&str> = ROLES.iter().map(|role| role.union).collect();
            errors.push(schema_error(
                file,
                &def.at(),
                &format!("one of {} to list the message", roles.join(", ")),
                &format!("none that lists `{method}`"),
                "add it to that union with an erratum, or teach codegen/src/model/methods.rs a new one",
            ));
        }
    }
    Error::check(errors)?;
    methods.sort_by(|a, b| (a.direction, a.kind, &a.name).cmp(&(b.direction, b.kind, &b.name)));
    let same = |pair: &&[Method]| {
        (pair[0].direction, pair[0].kind, &pair[0].name)
            == (pair[1].direction, pair[1].kind, &pair[1].name)
    };
    if let Some(pair) = methods.windows(2).find(same) {
        return Err(schema_error(
            file,
            &format!("/$defs/{}", pair[1].message),
            "a method of its own for each message of one side",
            &format!("`{}`, which `{}` has", pair[1].name, pair[0].message),
            "mend one of them with an erratum",
        ));
    }
    for (name, results) in outcomes {
        let outcome = outcome(&definitions, &name, &results);
        if let Some(taken) = model.types.insert(name.clone(), outcome) {
            return Err(schema_error(
                file,
                &taken.at(),
                &format!("no `{name}`, which is the name of what answers by result or by task"),
                "one",
                "give it another name in spec/names.toml ([[inline]] or [types])",
            ));
        }
    }
    model.methods = methods;
    Ok(decisions)
}

/// The definition of what any request may be answered by.
const GENERIC: &str = "Result";

/// What answers a request that nothing answers, and the decision that it is.
fn generic_result(definitions: &Definitions, scope: &Scope, method: &Method) -> (Ty, Decision) {
    let Method { name, message, .. } = method;
    let (result, answer) = match definitions.ty(GENERIC) {
        Some(ty) => (ty, format!("`{GENERIC}`, the result of the generic kind")),
        None => (Ty::JsonObject, "any JSON object, kept as text".to_owned()),
    };
    let revisions = match scope {
        Scope::Revision(id) => format!("revisions = [{id:?}]\n"),
        _ => String::new(),
    };
    let decision = Decision {
        scope: scope.clone(),
        place: definitions.pointer(message),
        question: Question::Result,
        open: format!("nothing says what answers `{name}`"),
        answer,
        settle: Settle {
            file: MethodRules::FILE.to_owned(),
            stub: format!("[[result]]\nmethod = {name:?}\nresult = \"\"\n{revisions}"),
        },
    };
    (result, decision)
}

/// Rust names by the names of definitions: asked once per method, so not searched for each time.
struct Definitions(BTreeMap<String, String>);

impl Definitions {
    fn of(model: &Model) -> Self {
        let named = |def: &TypeDef| Some((def.definition.clone()?, def.name.clone()));
        Self(model.types.values().filter_map(named).collect())
    }

    fn name(&self, definition: &str) -> Option<&str> {
        self.0.get(definition).map(String::as_str)
    }

    /// Where the definition of a Rust name stands.
    fn pointer(&self, name: &str) -> String {
        let definition = self.0.iter().find(|(_, rust)| *rust == name);
        let definition = definition.map_or(name, |(definition, _)| definition);
        format!("/$defs/{}", json::segment(definition))
    }

    fn ty(&self, definition: &str) -> Option<Ty> {
        self.name(definition).map(|name| Ty::Named(name.to_owned()))
    }
}

/// A union of the results that may answer one request.
fn outcome(definitions: &Definitions, name: &str, results: &[String]) -> TypeDef {
    let types: Vec<Ty> = (results.iter())
        .filter_map(|definition| definitions.ty(definition))
        .collect();
    TypeDef {
        name: name.to_owned(),
        definition: None,
        places: results.to_vec(),
        doc_key: name.to_owned(),
        area: String::new(),
        deprecated: false,
        shape: Shape::Union(Union {
            variants: variants::named(name, &types),
            plan: Plan::Take(0),
            open: false,
        }),
    }
}

/// The message types that a role stands for: the variants of its union, or the one type it names;
/// and what is among them without being an object.
fn messages(model: &Model, role: &str) -> (BTreeSet<String>, Vec<Ty>) {
    let role = Ty::Named(role.to_owned());
    let mut messages = BTreeSet::new();
    let mut others = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![&role];
    while let Some(ty) = open.pop() {
        let ty = model.resolve(ty);
        let Ty::Named(name) = ty else {
            others.push(ty.clone());
            continue;
        };
        match model.get(name).map(|def| &def.shape) {
            Some(Shape::Union(_)) if seen.contains(name) => {}
            Some(Shape::Union(union)) => {
                seen.insert(name);
                open.extend(union.variants.iter().map(|variant| &variant.ty));
            }
            Some(Shape::Object(_)) => {
                messages.insert(name.clone());
            }
            _ => others.push(ty.clone()),
        }
    }
    (messages, others)
}

fn method(
    model: &Model,
    definitions: &Definitions,
    file: &str,
    message: &str,
    role: &Role,
    rules: &MethodRules,
    result_rule: &mut impl FnMut(&str, &str) -> Option<Ruled>,
) -> Result<Method, Error> {
    let error = |expected: &str, found: &str, help: &str| {
        Err(schema_error(
            file,
            &format!("/$defs/{message}"),
            expected,
            found,
            help,
        ))
    };
    let Some(Shape::Object(object)) = model.get(message).map(|def| &def.shape) else {
        return error(
            "a message object",
            "another shape",
            "mend it with an erratum",
        );
    };
    let Some(name) = method_name(object) else {
        return error(
            "a message whose `method` is one constant",
            "none",
            "mend it with an erratum",
        );
    };
    let params = object.members.iter().find(|member| member.wire == "params");
    let result = match role.kind {
        MethodKind::Notification => None,
        _ => result_type(model, definitions, message, &name, result_rule),
    };
    let facts = rules.facts(&name);
    Ok(Method {
        input_required: result
            .as_ref()
            .is_some_and(|result| asks_first(model, rules, result)),
        named_by: facts.named_by.map(str::to_owned),
        capability: facts.capability.map(str::to_owned),
        name,
        direction: role.direction,
        kind: role.kind,
        message: message.to_owned(),
        params: params.map(|member| member.ty.clone()),
        params_required: params.is_some_and(|member| member.presence == Presence::Required),
        result,
    })
}

/// Whether a result may be the one that asks for input first.
fn asks_first(model: &Model, rules: &MethodRules, result: &Ty) -> bool {
    let Ty::Named(name) = model.resolve(result) else {
        return false;
    };
    let Some(Shape::Union(union)) = model.get(name).map(|def| &def.shape) else {
        return false;
    };
    union.variants.iter().any(|variant| match &variant.ty {
        Ty::Named(name) => {
            let definition = model.get(name).and_then(|def| def.definition.as_deref());
            definition.is_some() && definition == rules.input_required()
        }
        _ => false,
    })
}

/// The constant of `method`.
fn method_name(object: &Object) -> Option<String> {
    let member = object
        .members
        .iter()
        .find(|member| member.wire == "method")?;
    match &member.presence {
        Presence::Constant(Value::String(name)) => Some(name.clone()),
        _ => None,
    }
}

/// By the schema's `XResultResponse`, else by a rule, else by the name of the request.
fn result_type(
    model: &Model,
    definitions: &Definitions,
    message: &str,
    method: &str,
    result_rule: &mut impl FnMut(&str, &str) -> Option<Ruled>,
) -> Option<Ty> {
    let definition = model.get(message)?.definition.as_deref()?;
    let stem = roles::stem(definition);
    let response = definitions.name(&roles::response(stem));
    if let Some(Shape::Object(response)) = response.and_then(|name| Some(&model.get(name)?.shape))
        && let Some(result) = response
            .members
            .iter()
            .find(|member| member.wire == "result")
    {
        return Some(result.ty.clone());
    }
    match result_rule(method, stem) {
        Some(Ruled::Outcome(name)) => Some(Ty::Named(name)),
        Some(Ruled::Definition(definition)) => definitions.ty(&definition),
        None => definitions.ty(&roles::result(stem)),
    }
}
