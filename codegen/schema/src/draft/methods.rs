//! The methods of a revision, read off the unions that list what each side may send.

use crate::pointer;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::open::{errata_file, erratum};
use super::{Def, Direction, Draft, Method, MethodKind, Object, Presence, Shape, Ty, Union};
use crate::decision::{Decision, Question, Scope, Settle};
use crate::spec::methods::{MethodRules, ResultRule, is_area, module};
use crate::spec::roles::{self, ROLES, Role};

/// What a rule says answers a request.
enum Ruled {
    /// A definition of the schema.
    Definition(String),
    /// A type of that Rust name, made for the case.
    Outcome(String),
}

/// The methods of a draft, and what they add to it.
pub(super) struct Paired {
    pub(super) methods: Vec<Method>,
    /// The unions that were made for requests with more than one answer, by Rust name.
    pub(super) outcomes: BTreeMap<String, Def>,
    pub(super) decisions: Vec<Decision>,
}

/// Pairs each method with what answers it; `rule` names what answers a request that the schema does not pair.
///
/// A request that may be answered in two ways gets a union of both: `CallToolOutcome`.
/// One that nothing answers is answered by the result of the generic kind; a message that no union lists, or that has
/// the method of another one, is a type and no method; a method whose area is no file has one that is: each is a
/// decision.
pub(super) fn paired<'r>(
    draft: &Draft,
    scope: &Scope,
    rules: &MethodRules,
    rule: impl Fn(&str) -> Option<ResultRule<'r>>,
) -> Paired {
    let mut decisions = Vec::new();
    let mut methods = Vec::new();
    let mut outcomes = BTreeMap::new();
    let definitions = Definitions::of(draft);
    let mut listed = BTreeSet::new();
    let mut result_rule = |method: &str, stem: &str| {
        let ResultRule {
            result,
            task_result,
        } = rule(method)?;
        match task_result {
            None => Some(Ruled::Definition(result.to_owned())),
            Some(task) => {
                let name = free(draft, &format!("{stem}Outcome"));
                outcomes.insert(name.clone(), [result.to_owned(), task.to_owned()]);
                Some(Ruled::Outcome(name))
            }
        }
    };
    for role in ROLES {
        let Some(def) = draft.definition(role.union) else {
            continue;
        };
        let (names, others) = messages(draft, &def.name);
        for other in others {
            let open = format!(
                "expected messages: objects whose `method` is one constant, found {other:?}"
            );
            decisions.push(no_message(scope, def.at(), role.union, open));
        }
        listed.extend(names.iter().cloned());
        let mut of_role: Vec<Method> = Vec::new();
        for name in names {
            match method(draft, &definitions, &name, role, rules, &mut result_rule) {
                Some(method) => of_role.push(method),
                None => {
                    let place = definitions.pointer(&name);
                    let open = "expected a message whose `method` is one constant, found none";
                    decisions.push(no_message(scope, place, role.union, open.to_owned()));
                }
            }
        }
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
    for def in draft.types.values() {
        let stray = match &def.shape {
            Shape::Object(object) if def.definition.is_some() => method_name(object),
            _ => None,
        };
        if let Some(method) = stray
            && !listed.contains(&def.name)
        {
            decisions.push(unlisted(scope, def, &method));
        }
    }
    for method in &methods {
        decisions.extend(without_area(
            scope,
            &definitions,
            method,
            rules.area(&method.name),
        ));
    }
    methods.sort_by(|a, b| (a.direction, a.kind, &a.name).cmp(&(b.direction, b.kind, &b.name)));
    let outcomes = outcomes.into_iter();
    let outcomes = outcomes.map(|(name, results)| {
        let made = outcome(&definitions, &name, &results);
        (name, made)
    });
    Paired {
        methods,
        outcomes: outcomes.collect(),
        decisions,
    }
}

/// What is listed among messages and is none: it can be no method.
fn no_message(scope: &Scope, place: String, union: &str, open: String) -> Decision {
    let list = format!("/$defs/{union}/anyOf");
    Decision {
        scope: scope.clone(),
        place,
        question: Question::Direction,
        open: format!("{open}, and `{union}` lists it"),
        answer: "it is a type, and no method of either side".to_owned(),
        settle: Settle {
            file: errata_file(scope),
            stub: format!(
                "# the list as it stands, and without it\n{}",
                erratum(&list, "[]", "replace_json = '''[]'''")
            ),
        },
    }
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
        settle: Settle {
            file: errata_file(scope),
            stub: erratum(&at, &Value::from(name).to_string(), "replace = \"\""),
        },
        place,
    }
}

/// A message that no union lists: it is a type, and nobody's method.
fn unlisted(scope: &Scope, def: &Def, method: &str) -> Decision {
    let roles: Vec<&str> = ROLES.iter().map(|role| role.union).collect();
    let list = format!("/$defs/{}/anyOf", roles[0]);
    let definition = def.definition.as_deref().unwrap_or(&def.name);
    let replace = format!("replace_json = '''[{{\"$ref\": \"#/$defs/{definition}\"}}]'''");
    Decision {
        scope: scope.clone(),
        place: def.at(),
        question: Question::Direction,
        open: format!(
            "expected one of {} to list the message, found none that lists `{method}`: nothing says who sends it",
            roles.join(", ")
        ),
        answer: format!("`{definition}` is a type, and no method of either side"),
        settle: Settle {
            file: errata_file(scope),
            stub: erratum(&list, "[]", &replace),
        },
    }
}

/// A method whose area cannot be a file of a crate.
fn without_area(
    scope: &Scope,
    definitions: &Definitions,
    method: &Method,
    area: &str,
) -> Option<Decision> {
    let name = &method.name;
    (!is_area(area)).then(|| Decision {
        scope: scope.clone(),
        place: definitions.pointer(&method.message),
        question: Question::Name,
        open: format!("`{area}`, the first step of the method `{name}`, can be no file"),
        answer: format!("the types that it uses are in `{}`", module(area)),
        settle: Settle {
            file: MethodRules::FILE.to_owned(),
            stub: format!("[areas]\n{name:?} = \"\"\n"),
        },
    })
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
    fn of(draft: &Draft) -> Self {
        let named = |def: &Def| Some((def.definition.clone()?, def.name.clone()));
        Self(draft.types.values().filter_map(named).collect())
    }

    fn name(&self, definition: &str) -> Option<&str> {
        self.0.get(definition).map(String::as_str)
    }

    /// Where the definition of a Rust name stands.
    fn pointer(&self, name: &str) -> String {
        let definition = self.0.iter().find(|(_, rust)| *rust == name);
        let definition = definition.map_or(name, |(definition, _)| definition);
        format!("/$defs/{}", pointer::escaped(definition))
    }

    fn ty(&self, definition: &str) -> Option<Ty> {
        self.name(definition).map(|name| Ty::Named(name.to_owned()))
    }
}

/// A name, or one with a number, that no type of the schema has.
fn free(draft: &Draft, name: &str) -> String {
    let mut numbers = 2..;
    let mut free = name.to_owned();
    while draft.get(&free).is_some() {
        free = format!("{name}{}", numbers.next().unwrap_or_default());
    }
    free
}

/// A union of the results that may answer one request.
fn outcome(definitions: &Definitions, name: &str, results: &[String]) -> Def {
    let types: Vec<Ty> = (results.iter())
        .filter_map(|definition| definitions.ty(definition))
        .collect();
    Def {
        name: name.to_owned(),
        definition: None,
        places: results.to_vec(),
        pointer: String::new(),
        doc_key: name.to_owned(),
        deprecated: false,
        shape: Shape::Union(Union { types, open: false }),
    }
}

/// The message types that a role stands for: the variants of its union, or the one type it names;
/// and what is among them without being an object.
fn messages(draft: &Draft, role: &str) -> (BTreeSet<String>, Vec<Ty>) {
    let role = Ty::Named(role.to_owned());
    let mut messages = BTreeSet::new();
    let mut others = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![&role];
    while let Some(ty) = open.pop() {
        let ty = draft.resolve(ty);
        let Ty::Named(name) = ty else {
            others.push(ty.clone());
            continue;
        };
        match draft.get(name).map(|def| &def.shape) {
            Some(Shape::Union(_)) if seen.contains(name) => {}
            Some(Shape::Union(union)) => {
                seen.insert(name);
                open.extend(&union.types);
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
    draft: &Draft,
    definitions: &Definitions,
    message: &str,
    role: &Role,
    rules: &MethodRules,
    result_rule: &mut impl FnMut(&str, &str) -> Option<Ruled>,
) -> Option<Method> {
    let Some(Shape::Object(object)) = draft.get(message).map(|def| &def.shape) else {
        return None;
    };
    let name = method_name(object)?;
    let params = object.members.iter().find(|member| member.wire == "params");
    let result = match role.kind {
        MethodKind::Notification => None,
        _ => result_type(draft, definitions, message, &name, result_rule),
    };
    let facts = rules.facts(&name);
    let asks_first = (result.as_ref()).and_then(|result| asks_first(draft, rules, result));
    Some(Method {
        input_required: asks_first.is_some(),
        complete: asks_first.flatten(),
        named_by: facts.named_by.map(str::to_owned),
        capability: (facts.capability)
            .filter(|capability| is_there(draft, role, capability))
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
fn is_there(draft: &Draft, role: &Role, capability: &str) -> bool {
    let holder = match role.direction {
        Direction::ClientToServer => "ServerCapabilities",
        Direction::ServerToClient => "ClientCapabilities",
    };
    let whole = capability.split('.').next();
    match draft.definition(holder).map(|def| &def.shape) {
        Some(Shape::Object(object)) => {
            (object.members.iter()).any(|member| Some(member.wire.as_str()) == whole)
        }
        // Nothing says what can be declared.
        _ => true,
    }
}

/// Whether a result may be the one that asks for input first; and what it is else, if that is one type.
fn asks_first(draft: &Draft, rules: &MethodRules, result: &Ty) -> Option<Option<Ty>> {
    let Ty::Named(name) = draft.resolve(result) else {
        return None;
    };
    let Some(Shape::Union(union)) = draft.get(name).map(|def| &def.shape) else {
        return None;
    };
    let asks = |ty: &&Ty| match ty {
        Ty::Named(name) => {
            let definition = draft.get(name).and_then(|def| def.definition.as_deref());
            definition.is_some() && definition == rules.input_required()
        }
        _ => false,
    };
    let (asking, others): (Vec<&Ty>, Vec<&Ty>) = union.types.iter().partition(asks);
    (!asking.is_empty()).then(|| match others[..] {
        [only] => Some(only.clone()),
        _ => None,
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
    draft: &Draft,
    definitions: &Definitions,
    message: &str,
    method: &str,
    result_rule: &mut impl FnMut(&str, &str) -> Option<Ruled>,
) -> Option<Ty> {
    let definition = draft.get(message)?.definition.as_deref()?;
    let stem = roles::stem(definition);
    let response = definitions.name(&roles::response(stem));
    if let Some(Shape::Object(response)) = response.and_then(|name| Some(&draft.get(name)?.shape))
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
