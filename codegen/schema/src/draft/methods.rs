//! The methods of a revision, read off the unions that list what each side may send.

use crate::pointer::escaped;
use crate::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::open::{erratum, since};
use super::strays::{no_messages, unlisted};
use crate::decision::{Decision, Question, Scope, Settle};
use crate::model::{
    Built, Direction, Method, MethodKind, Model, Object, Presence, Shape, Ty, TypeDef, Union,
};
use crate::naming::numbered;
use crate::spec::extensions::{FACTS, FOLDER};
use crate::spec::methods::{Answer, MethodRules, ResultRule, answer, is_area, module};
use crate::spec::roles::{self, ROLES, Role};

/// Pairs each method with what answers it; `rule` names what answers a request that the schema does not pair.
///
/// A request that may be answered in two ways gets a union of both: `CallToolOutcome`.
/// One that nothing answers is answered by the result of the generic kind; a message that no union lists, or that has
/// the method of another one, is a type and no method; a method whose area is no file has one that is: each is a
/// decision.
pub(super) fn pair<'r>(
    built: &mut Built,
    scope: &Scope,
    rules: &MethodRules,
    rule: impl Fn(&str) -> Option<&'r ResultRule>,
) {
    let (model, schema) = (&built.model, &built.model.schema);
    let mut decisions = Vec::new();
    let mut methods = Vec::new();
    let mut outcomes = SortedMap::new();
    let definitions = Definitions::of(model);
    let mut listed = SortedSet::new();
    let mut result = |message: &str, method: &str| {
        let request = model.get(message)?.definition.as_deref()?;
        let response = |response: &str| {
            let object = model.shape(definitions.name(response)?)?.object()?;
            Some(object.member("result")?.ty.clone())
        };
        match answer(request, response, || rule(method)) {
            Answer::Response(ty) => Some(ty),
            Answer::Named(result) => definitions.ty(&result),
            Answer::Ruled(rule) => match &rule.task_result {
                None => definitions.ty(&rule.result),
                Some(task) => {
                    let name = free(model, &format!("{}Outcome", roles::stem(request)));
                    outcomes.insert(name.clone(), [rule.result.clone(), task.clone()]);
                    Some(Ty::Named(name))
                }
            },
        }
    };
    for role in ROLES {
        let mut names = stated(model, role, rules);
        let mut odd: Vec<(String, String)> = Vec::new();
        if let Some(def) = model.definition(role.union) {
            let (named, others) = messages(model, &def.name);
            names.extend(named);
            odd.extend(others.into_iter().map(|other| {
                let open = format!(
                    "expected messages: objects whose `method` is one constant, found {other:?}"
                );
                (def.at(), open)
            }));
        }
        listed.extend(names.iter().cloned());
        let mut of_role: Vec<Method> = Vec::new();
        for name in names {
            match method(model, &name, role, rules, &mut result) {
                Some(method) => of_role.push(method),
                None => {
                    let place = definitions.pointer(&name);
                    let open = "expected a message whose `method` is one constant, found none";
                    odd.push((place, open.to_owned()));
                }
            }
        }
        decisions.extend(no_messages(schema, scope, odd, role.union));
        of_role.sort_by(|a, b| a.name.cmp(&b.name));
        for same in of_role.chunk_by(|a, b| a.name == b.name) {
            let [only] = same else {
                decisions.push(asked_twice(scope, &definitions, same));
                continue;
            };
            let mut method = only.clone();
            if method.result.is_none() && role.kind != MethodKind::Notification {
                let (result, decision) = generic_result(&definitions, scope, &method);
                method.result = Some(result);
                decisions.push(decision);
            }
            methods.push(method);
        }
    }
    let strays: Vec<(&TypeDef, String)> = defined_messages(model)
        .filter(|(def, _)| !listed.contains(&def.name))
        .collect();
    decisions.extend(unlisted(schema, scope, &strays));
    let without_area = |method| without_area(scope, &definitions, method, rules);
    decisions.extend(methods.iter().filter_map(without_area));
    methods.sort_by(|a, b| (a.direction, a.kind, &a.name).cmp(&(b.direction, b.kind, &b.name)));
    for (name, results) in outcomes {
        let made = outcome(&definitions, &name, &results);
        built.model.types.insert(name, made);
    }
    built.model.methods = methods;
    built.decisions.extend(decisions);
}

/// Several messages of one side that have one method: nothing says which of them is meant.
fn asked_twice(scope: &Scope, definitions: &Definitions, same: &[Method]) -> Decision {
    let messages: Vec<String> = (same.iter())
        .map(|method| format!("`{}`", method.message))
        .collect();
    let messages = messages.join(" and ");
    let (name, message) = match same {
        [.., last] => (last.name.as_str(), last.message.as_str()),
        [] => ("", ""),
    };
    let place = definitions.pointer(message);
    let at = format!("{place}/properties/method/const");
    Decision {
        scope: scope.clone(),
        question: Question::Direction,
        open: format!(
            "expected a method of its own for each message of one side, found `{name}` for {messages}"
        ),
        answer: format!("`{name}` is no method that is known; {messages} are types"),
        settle: erratum(
            scope,
            &at,
            Some(&Value::from(name).to_string()),
            &format!("replace = {:?}", format!("{name}2")),
        ),
        place,
    }
}

/// A method whose area cannot be a file of a crate.
fn without_area(
    scope: &Scope,
    definitions: &Definitions,
    method: &Method,
    rules: &MethodRules,
) -> Option<Decision> {
    let name = &method.name;
    let area = rules.area(name);
    (!is_area(area)).then(|| Decision {
        scope: scope.clone(),
        place: definitions.pointer(&method.message),
        question: Question::Name,
        open: format!("`{area}`, the first segment of the method `{name}`, can be no file"),
        answer: format!("the types that it uses are in `{}`", module(area)),
        settle: Settle::of(
            MethodRules::FILE,
            format!("[areas]\n{name:?} = {:?}\n", module(area)),
        ),
    })
}

/// The definition of what any request may be answered by.
const GENERIC: &str = "Result";

/// What answers a request that nothing answers, and the decision that it is.
fn generic_result(definitions: &Definitions, scope: &Scope, method: &Method) -> (Ty, Decision) {
    let Method { name, message, .. } = method;
    let (result, answer, row) = match definitions.ty(GENERIC) {
        Some(ty) => (
            ty,
            format!("`{GENERIC}`, the result of the generic kind"),
            GENERIC,
        ),
        None => (
            Ty::JsonObject,
            "any JSON object, kept as text".to_owned(),
            "",
        ),
    };
    let nothing = format!("nothing says what answers `{name}`");
    let (open, settle) = match scope {
        // The row of the method is there, for its sender.
        Scope::Extension { name: of, .. } => (
            format!("{nothing}: its row has no `result`"),
            Settle::of(
                format!("{FOLDER}/{of}/{FACTS}"),
                format!("name = {name:?}\nresult = {row:?}\n"),
            ),
        ),
        _ => {
            let since = since(scope);
            let row = format!("[[result]]\nmethod = {name:?}\nresult = {row:?}\n{since}");
            (nothing, Settle::of(MethodRules::FILE, row))
        }
    };
    let decision = Decision {
        scope: scope.clone(),
        place: definitions.pointer(message),
        question: Question::Result,
        open,
        answer,
        settle,
    };
    (result, decision)
}

/// Rust names by the names of definitions: asked once per method, so not searched for each time.
struct Definitions(SortedMap<String, String>);

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
        format!("/$defs/{}", escaped(definition))
    }

    fn ty(&self, definition: &str) -> Option<Ty> {
        self.name(definition).map(|name| Ty::Named(name.to_owned()))
    }
}

/// A name, or one with a number, that no type of the schema has.
fn free(model: &Model, name: &str) -> String {
    match model.get(name) {
        None => name.to_owned(),
        Some(_) => numbered(name, |name| model.get(name).is_some()),
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
        pointer: String::new(),
        doc_key: name.to_owned(),
        area: String::new(),
        deprecated: false,
        shape: Shape::Union(Union::of(types, false)),
    }
}

/// The messages of which it is said beside the schema that the side of a role sends them.
fn stated(model: &Model, role: &Role, rules: &MethodRules) -> SortedSet<String> {
    let is_of = |method: &str| {
        roles::kind_of(method) == role.kind && rules.sender(method) == Some(role.direction)
    };
    let messages = defined_messages(model).filter(|(_, method)| is_of(method));
    messages.map(|(def, _)| def.name.clone()).collect()
}

/// The definitions that are messages, each with its method.
fn defined_messages(model: &Model) -> impl Iterator<Item = (&TypeDef, String)> {
    let definitions = model.types.values().filter(|def| def.definition.is_some());
    definitions.filter_map(|def| Some((def, method_name(def.shape.object()?)?)))
}

/// The message types that a role stands for: the variants of its union, or the one type it names;
/// and what is among them without being an object.
fn messages(model: &Model, role: &str) -> (SortedSet<String>, Vec<Ty>) {
    let role = Ty::Named(role.to_owned());
    let mut messages = SortedSet::new();
    let mut others = Vec::new();
    let mut seen = SortedSet::new();
    let mut open = vec![&role];
    while let Some(ty) = open.pop() {
        let ty = model.resolve(ty);
        let Ty::Named(name) = ty else {
            others.push(ty.clone());
            continue;
        };
        match model.shape(name) {
            Some(Shape::Union(_)) if seen.contains(name) => {}
            Some(Shape::Union(union)) => {
                seen.insert(name);
                open.extend(union.types());
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
    message: &str,
    role: &Role,
    rules: &MethodRules,
    result: &mut impl FnMut(&str, &str) -> Option<Ty>,
) -> Option<Method> {
    let object = model.shape(message)?.object()?;
    let name = method_name(object)?;
    let params = object.member("params");
    let result = match role.kind {
        MethodKind::Notification => None,
        _ => result(message, &name),
    };
    let facts = rules.facts(&name);
    let asks_first = (result.as_ref()).and_then(|result| asks_first(model, rules, result));
    Some(Method {
        input_required: asks_first.is_some(),
        complete: asks_first.flatten(),
        named_by: facts.named_by.map(str::to_owned),
        capability: (facts.capability)
            .filter(|capability| is_there(model, role, capability))
            .map(str::to_owned),
        capability_parts: facts.capability_parts.to_vec(),
        name,
        direction: role.direction,
        kind: role.kind,
        message: message.to_owned(),
        params: params.map(|member| member.ty.clone()),
        params_required: params.is_some_and(|member| member.presence == Presence::Required),
        result,
    })
}

/// Whether the receiver can declare a capability in this revision.
fn is_there(model: &Model, role: &Role, capability: &str) -> bool {
    let holder = match role.direction {
        Direction::ClientToServer => "ServerCapabilities",
        Direction::ServerToClient => "ClientCapabilities",
    };
    let whole = capability.split('.').next().unwrap_or_default();
    let holder = model.definition(holder).and_then(|def| def.shape.object());
    // Where there is none, nothing says what can be declared.
    holder.is_none_or(|holder| holder.member(whole).is_some())
}

/// Whether a result may be the one that asks for input first; and what it is else, if that is one type.
fn asks_first(model: &Model, rules: &MethodRules, result: &Ty) -> Option<Option<Ty>> {
    let Some(Shape::Union(union)) = model.shape_of(result) else {
        return None;
    };
    let asks = |ty: &&Ty| {
        let def = ty.name().and_then(|name| model.get(name));
        let definition = def.and_then(|def| def.definition.as_deref());
        definition.is_some() && definition == rules.input_required()
    };
    let (asking, others): (Vec<&Ty>, Vec<&Ty>) = union.types().partition(asks);
    (!asking.is_empty()).then(|| match others[..] {
        [only] => Some(only.clone()),
        _ => None,
    })
}

/// The constant of `method`.
fn method_name(object: &Object) -> Option<String> {
    match &object.member("method")?.presence {
        Presence::Constant(Value::String(name)) => Some(name.clone()),
        _ => None,
    }
}
