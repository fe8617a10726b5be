//! The methods of a revision, read off the unions that list what each side may send.

use crate::pointer::escaped;
use crate::sorted::{SortedMap, SortedSet};

use serde_json::Value;

use super::open::{erratum, since};
use super::strays::{no_messages, unlisted};
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::model::{
    BuiltModel, Direction, MethodKind, Model, ModelMethod, ObjectShape, Presence, Shape, Ty,
    TypeDef, Union,
};
use crate::naming::numbered;
use crate::spec::extensions::{FACTS, FOLDER};
use crate::spec::methods::{MethodRules, RequestResult, ResultRule, answer, is_area, module};
use crate::spec::roles::{self, MessageRole, ROLES};
use crate::spec::toml_text::quoted;

/// Pairs each method with what answers it, by a rule where the schema does not pair it.
///
/// A request that may be answered in two ways gets a union of both: `CallToolOutcome`.
/// One that nothing answers is answered by the result of the generic kind; a message that no union lists, or that has
/// the method of another one, is a type and no method; a method whose area is not a file has one that is: each is a
/// decision.
pub(super) fn pair(built: &mut BuiltModel, scope: &Scope, rules: &MethodRules) {
    let (model, schema) = (&built.model, &built.model.schema);
    let named = |def: &TypeDef| Some((def.definition.clone()?, def.name.clone()));
    let mut pairing = Pairing {
        model,
        scope,
        rules,
        definitions: model.types.values().filter_map(named).collect(),
        outcomes: Vec::new(),
    };
    let mut decisions = Vec::new();
    let mut methods = Vec::new();
    let mut listed = SortedSet::new();
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
        let mut of_role: Vec<ModelMethod> = Vec::new();
        for name in names {
            match pairing.method(&name, role) {
                Some(method) => of_role.push(method),
                None => {
                    let place = pairing.pointer(&name);
                    let open = "expected a message whose `method` is one constant, found none";
                    odd.push((place, open.to_owned()));
                }
            }
        }
        decisions.extend(no_messages(schema, scope, odd, role.union));
        of_role.sort_by(|a, b| a.name.cmp(&b.name));
        for same in of_role.chunk_by(|a, b| a.name == b.name) {
            let [only] = same else {
                decisions.push(pairing.asked_twice(same));
                continue;
            };
            let mut method = only.clone();
            if method.result.is_none() && role.kind != MethodKind::Notification {
                let (result, decision) = pairing.generic_result(&method);
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
    let without_area = methods.iter().map(|method| pairing.without_area(method));
    decisions.extend(without_area.flatten());
    methods.sort_by(|a, b| (a.direction, a.kind, &a.name).cmp(&(b.direction, b.kind, &b.name)));
    let outcomes = pairing.outcomes.into_iter();
    (built.model.types).extend(outcomes.map(|def| (def.name.clone(), def)));
    built.model.methods = methods;
    built.decisions.extend(decisions);
}

/// The definition of what any request may be answered by.
const GENERIC: &str = "Result";

/// The methods of one schema on their way.
struct Pairing<'m> {
    model: &'m Model,
    scope: &'m Scope,
    rules: &'m MethodRules,
    /// Rust names by the names of definitions: asked once per method, so not searched for each time.
    definitions: SortedMap<String, String>,
    /// Unions of the two results that may answer one request.
    outcomes: Vec<TypeDef>,
}

impl<'m> Pairing<'m> {
    /// Returns the JSON pointer to the definition of a Rust name.
    fn pointer(&self, name: &str) -> String {
        let definition = self
            .definitions
            .iter()
            .find(|(_, rust)| *rust == name)
            .map_or(name, |(definition, _)| definition);
        format!("/$defs/{}", escaped(definition))
    }

    fn ty(&self, definition: &str) -> Option<Ty> {
        let name = self.definitions.get(definition);
        name.map(|name| Ty::Named(name.to_owned()))
    }

    /// Returns the rule that names what answers a request.
    fn rule(&self, method: &str) -> Option<&'m ResultRule> {
        let defined = |name: &str| self.model.schema.definitions.contains_key(name);
        match self.scope {
            Scope::Revision(id) | Scope::Extension { revision: id, .. } => {
                self.rules.result(id, method)
            }
            Scope::Schema(_) | Scope::Pair(_) => self.rules.result_among(method, defined),
        }
    }

    /// Returns the method that a message asks for.
    fn method(&mut self, message: &str, role: &MessageRole) -> Option<ModelMethod> {
        let (model, rules) = (self.model, self.rules);
        let object = model.shape(message)?.object()?;
        let name = method_name(object)?;
        let params = object.member("params");
        let result = match role.kind {
            MethodKind::Notification => None,
            _ => self.result(message, &name),
        };
        let asks_first = (result.as_ref()).and_then(|result| asks_first(model, rules, result));
        Some(ModelMethod {
            input_required: asks_first.is_some(),
            complete: asks_first.flatten(),
            named_by: rules.named_by.get(&name).cloned(),
            capability: (rules.capabilities.get(&name))
                .filter(|capability| is_there(model, role, capability))
                .cloned(),
            capability_parts: (rules.capability_parts.get(&name).cloned()).unwrap_or_default(),
            name,
            direction: role.direction,
            kind: role.kind,
            message: message.to_owned(),
            params: params.map(|member| member.ty.clone()),
            params_required: params.is_some_and(|member| member.presence == Presence::Required),
            result,
        })
    }

    /// Returns the type of a request's result, by the schema or by a rule.
    fn result(&mut self, message: &str, method: &str) -> Option<Ty> {
        let model = self.model;
        let request = model.get(message)?.definition.as_deref()?;
        let response = |response: &str| {
            let object = model.shape(self.definitions.get(response)?)?.object()?;
            Some(object.member("result")?.ty.clone())
        };
        match answer(request, response, || self.rule(method)) {
            RequestResult::Response(ty) => Some(ty),
            RequestResult::Named(result) => self.ty(&result),
            RequestResult::Ruled(rule) => match &rule.task_result {
                None => self.ty(&rule.result),
                Some(task) => {
                    let name = free(model, &format!("{}Outcome", roles::stem(request)));
                    let results = vec![rule.result.clone(), task.clone()];
                    let types: Vec<Ty> = results
                        .iter()
                        .filter_map(|result| self.ty(result))
                        .collect();
                    self.outcomes.push(TypeDef {
                        name: name.clone(),
                        definition: None,
                        places: results,
                        pointer: String::new(),
                        doc_key: name.clone(),
                        area: String::new(),
                        deprecated: false,
                        shape: Shape::Union(Union::of(types, false)),
                    });
                    Some(Ty::Named(name))
                }
            },
        }
    }

    /// Several messages of one side that have one method: nothing says which of them is meant.
    fn asked_twice(&self, same: &[ModelMethod]) -> Decision {
        let messages = same
            .iter()
            .map(|method| format!("`{}`", method.message))
            .collect::<Vec<_>>()
            .join(" and ");
        let (name, message) = match same {
            [.., last] => (last.name.as_str(), last.message.as_str()),
            [] => ("", ""),
        };
        let place = self.pointer(message);
        let open = format!(
            "expected a method of its own for each message of one side, found `{name}` for {messages}"
        );
        let answer = format!("`{name}` is not a known method; {messages} are types");
        let at = format!("{place}/properties/method/const");
        let replace = format!("replace = {}", quoted(&format!("{name}2")));
        let expect = Value::from(name).to_string();
        let settle = erratum(self.scope, &[&at], Some(&expect), &replace);
        self.scope
            .asks(QuestionKind::Direction, place, open, answer, settle)
    }

    /// Returns a method whose area cannot be a file of a crate.
    fn without_area(&self, method: &ModelMethod) -> Option<Decision> {
        let name = &method.name;
        let area = self.rules.area(name);
        if is_area(area) {
            return None;
        }
        let place = self.pointer(&method.message);
        let open = format!("`{area}`, the first segment of the method `{name}`, can be no file");
        let area = module(area);
        let answer = format!("the types that it uses are in `{area}`");
        let settle = match self.scope {
            Scope::Extension { name: of, .. } => Settle::of(
                format!("{FOLDER}/{of}/{FACTS}"),
                format!("name = {}\narea = {area:?}\n", quoted(name)),
            ),
            _ => Settle::of(
                MethodRules::FILE,
                format!("[areas]\n{} = {area:?}\n", quoted(name)),
            ),
        };
        Some(
            self.scope
                .asks(QuestionKind::Name, place, open, answer, settle),
        )
    }

    /// Returns the generic result, for a request without one, and the decision that it is.
    fn generic_result(&self, method: &ModelMethod) -> (Ty, Decision) {
        let ModelMethod { name, message, .. } = method;
        let generic = self.ty(GENERIC);
        let (answer, row) = match generic {
            Some(_) => (
                format!("`{GENERIC}`, the result of the generic kind"),
                GENERIC,
            ),
            None => ("any JSON object, kept as text".to_owned(), ""),
        };
        let nothing = format!("nothing says what answers `{name}`");
        let (open, settle) = match self.scope {
            // The row of the method is there, for its sender.
            Scope::Extension { name: of, .. } => (
                format!("{nothing}: its row has no `result`"),
                Settle::of(
                    format!("{FOLDER}/{of}/{FACTS}"),
                    format!("name = {}\nresult = {row:?}\n", quoted(name)),
                ),
            ),
            scope => {
                let since = since(scope);
                let row = format!(
                    "[[result]]\nmethod = {}\nresult = {row:?}\n{since}",
                    quoted(name)
                );
                (nothing, Settle::of(MethodRules::FILE, row))
            }
        };
        let place = self.pointer(message);
        let decision = self
            .scope
            .asks(QuestionKind::Result, place, open, answer, settle);
        (generic.unwrap_or(Ty::JsonObject), decision)
    }
}

/// Returns a name, or one with a number, that no type of the schema has.
fn free(model: &Model, name: &str) -> String {
    match model.get(name) {
        None => name.to_owned(),
        Some(_) => numbered(name, |name| model.get(name).is_some()),
    }
}

/// Returns the messages of which it is said beside the schema that the side of a role sends them.
fn stated(model: &Model, role: &MessageRole, rules: &MethodRules) -> SortedSet<String> {
    let is_of = |method: &str| rules.senders.get(method) == Some(&(role.direction, role.kind));
    let messages = defined_messages(model).filter(|(_, method)| is_of(method));
    messages.map(|(def, _)| def.name.clone()).collect()
}

/// Returns the definitions that are messages, each with its method.
fn defined_messages(model: &Model) -> impl Iterator<Item = (&TypeDef, String)> {
    let definitions = model.types.values().filter(|def| def.definition.is_some());
    definitions.filter_map(|def| Some((def, method_name(def.shape.object()?)?)))
}

/// Returns the message types that a role stands for: the variants of its union, or the one type it names;
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

/// Returns whether the receiver can declare a capability in this revision.
fn is_there(model: &Model, role: &MessageRole, capability: &str) -> bool {
    let holder = match role.direction {
        Direction::ClientToServer => "ServerCapabilities",
        Direction::ServerToClient => "ClientCapabilities",
    };
    let whole = capability.split('.').next().unwrap_or_default();
    let holder = model.definition(holder).and_then(|def| def.shape.object());
    // Without a holder, no type lists the capabilities that can be declared.
    holder.is_none_or(|holder| holder.member(whole).is_some())
}

/// Returns whether a result may be the one that asks for input first; and what it is else, if that is one type.
fn asks_first(model: &Model, rules: &MethodRules, result: &Ty) -> Option<Option<Ty>> {
    let Some(Shape::Union(union)) = model.shape_of(result) else {
        return None;
    };
    let asks = |ty: &&Ty| {
        let def = ty.name().and_then(|name| model.get(name));
        let definition = def.and_then(|def| def.definition.as_deref());
        definition.is_some() && definition == rules.input_required.as_deref()
    };
    let (asking, others): (Vec<&Ty>, Vec<&Ty>) = union.types().partition(asks);
    (!asking.is_empty()).then(|| match others[..] {
        [only] => Some(only.clone()),
        _ => None,
    })
}

/// Returns the constant of `method`.
fn method_name(object: &ObjectShape) -> Option<String> {
    match &object.member("method")?.presence {
        Presence::Constant(Value::String(name)) => Some(name.clone()),
        _ => None,
    }
}
