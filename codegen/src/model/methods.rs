//! The methods of a revision, read off the unions that list what each side may send.

use serde_json::Value;

use super::{
    Direction, Method, MethodKind, Model, Object, Plan, Presence, Shape, Ty, TypeDef, Union,
    variants,
};
use crate::Error;
use crate::schema::schema_error;
use crate::spec::methods::ResultRule;

/// Which union lists which messages.
const ROLES: &[(&str, Direction, MethodKind)] = &[
    (
        "ClientRequest",
        Direction::ClientToServer,
        MethodKind::Request,
    ),
    (
        "ClientNotification",
        Direction::ClientToServer,
        MethodKind::Notification,
    ),
    (
        "ServerRequest",
        Direction::ServerToClient,
        MethodKind::Request,
    ),
    (
        "ServerNotification",
        Direction::ServerToClient,
        MethodKind::Notification,
    ),
    ("InputRequest", Direction::ServerToClient, MethodKind::Input),
];

/// Fills in the methods; `rule` names what answers a request that the schema does not pair.
///
/// A request that may be answered in two ways gets a union of both: `CallToolOutcome`.
pub(super) fn fill<'r>(
    model: &mut Model,
    file: &str,
    rule: impl Fn(&str) -> Option<ResultRule<'r>>,
) -> Result<(), Error> {
    let mut methods = Vec::new();
    let mut errors = Vec::new();
    let mut outcomes = Vec::new();
    let mut result_rule = |method: &str, stem: &str| {
        let ResultRule {
            result,
            task_result,
        } = rule(method)?;
        match task_result {
            None => Some(result.to_owned()),
            Some(task) => {
                let name = format!("{stem}Outcome");
                outcomes.push((name.clone(), [result.to_owned(), task.to_owned()]));
                Some(name)
            }
        }
    };
    for (role, direction, kind) in ROLES {
        let Some(def) = model.definition(role) else {
            continue;
        };
        for name in messages(model, &Ty::Named(def.name.clone())) {
            match method(model, file, &name, *direction, *kind, &mut result_rule) {
                Ok(method) => methods.push(method),
                Err(error) => errors.push(error),
            }
        }
    }
    Error::check(errors)?;
    methods.sort_by(|a, b| (a.direction, a.kind, &a.name).cmp(&(b.direction, b.kind, &b.name)));
    for (name, definitions) in outcomes {
        let outcome = outcome(model, &name, &definitions);
        model.types.insert(name, outcome);
    }
    model.methods = methods;
    Ok(())
}

/// A union of the results that may answer one request.
fn outcome(model: &Model, name: &str, definitions: &[String]) -> TypeDef {
    let types: Vec<Ty> = definitions
        .iter()
        .filter_map(|definition| model.definition(definition))
        .map(|def| Ty::Named(def.name.clone()))
        .collect();
    TypeDef {
        name: name.to_owned(),
        definition: None,
        places: definitions.to_vec(),
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

/// The message types that a role stands for: the variants of its union, or the one type it names.
fn messages(model: &Model, role: &Ty) -> Vec<String> {
    let Ty::Named(name) = model.resolve(role) else {
        return Vec::new();
    };
    match model.get(name).map(|def| &def.shape) {
        Some(Shape::Union(union)) => union
            .variants
            .iter()
            .flat_map(|variant| messages(model, &variant.ty))
            .collect(),
        Some(Shape::Object(_)) => vec![name.clone()],
        _ => Vec::new(),
    }
}

fn method(
    model: &Model,
    file: &str,
    message: &str,
    direction: Direction,
    kind: MethodKind,
    result_rule: &mut impl FnMut(&str, &str) -> Option<String>,
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
    let result = match kind {
        MethodKind::Notification => None,
        _ => match result_type(model, message, &name, result_rule) {
            Some(result) => Some(result),
            None => {
                return error(
                    &format!("a result that answers `{name}`"),
                    "none: the schema pairs it with nothing, and no rule does",
                    &format!("add a [[result]] with method = \"{name}\" to spec/methods.toml"),
                );
            }
        },
    };
    Ok(Method {
        name,
        direction,
        kind,
        message: message.to_owned(),
        params: params.map(|member| member.ty.clone()),
        params_required: params.is_some_and(|member| member.presence == Presence::Required),
        result,
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
    message: &str,
    method: &str,
    result_rule: &mut impl FnMut(&str, &str) -> Option<String>,
) -> Option<Ty> {
    let definition = model.get(message)?.definition.as_deref()?;
    let stem = definition.strip_suffix("Request").unwrap_or(definition);
    let response = model.definition(&format!("{stem}ResultResponse"));
    if let Some(Shape::Object(response)) = response.map(|def| &def.shape)
        && let Some(result) = response
            .members
            .iter()
            .find(|member| member.wire == "result")
    {
        return Some(result.ty.clone());
    }
    let named = |definition: &str| {
        model
            .definition(definition)
            .map(|def| Ty::Named(def.name.clone()))
    };
    match result_rule(method, stem) {
        Some(outcome) if outcome.ends_with("Outcome") => Some(Ty::Named(outcome)),
        Some(definition) => named(&definition),
        None => named(&format!("{stem}Result")),
    }
}
