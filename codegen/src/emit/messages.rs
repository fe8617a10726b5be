//! Messages of a method: an alias of a generic type of `mcp-wire`, and the method as a type.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;

use super::ty::{ident, runtime_path, rust_type};
use mcp_revisions_schema::model::{
    Member, Model, ModelMethod, ObjectShape, Presence, Rest, Shape, Ty, TypeDef,
};
use mcp_revisions_schema::naming::taken::{TAKEN, WIRE};
use mcp_revisions_schema::spec::roles;

/// The messages of a model that are aliases, by Rust name: what each stands for, and the method that it declares.
pub(super) struct Messages(SortedMap<String, (TokenStream, TokenStream)>);

impl Messages {
    pub(super) fn of(model: &Model) -> Self {
        let mut methods: SortedSet<String> = SortedSet::new();
        let mut messages = SortedMap::new();
        // `ping` goes both ways, but it is one type.
        for method in model.methods.iter().rev() {
            if messages.contains_key(&method.message) {
                continue;
            }
            let Some((generic, params)) = (model.shape(&method.message).and_then(Shape::object))
                .and_then(|object| Some((generic(model, object)?, object.member("params")?)))
            else {
                continue;
            };
            let name = method_name(model, &method.message, &mut methods);
            let (name, wire, need) = (ident(&name), &method.name, need(params));
            let params = rust_type(&params.ty);
            let result = method
                .result
                .as_ref()
                .map(rust_type)
                .map(|result| quote!(=> #result));
            let generic = ident(generic);
            let declared = quote!(mcp_wire::method! { #name #wire #need #params #result });
            let target = quote!(#generic<#name>);
            messages.insert(method.message.clone(), (target, declared));
        }
        for method in &model.methods {
            if let Some(name) = response(model, method) {
                let request = ident(&method.message);
                let target = (quote!(ResponseOf<#request>), TokenStream::new());
                messages.entry(name).or_insert(target);
            }
        }
        Self(messages)
    }

    /// Returns the type that a message is an alias of, and its method.
    pub(super) fn get(&self, def: &TypeDef) -> Option<&(TokenStream, TokenStream)> {
        self.0.get(&def.name)
    }
}

/// Returns the generic type that reads and writes the object, if there is one.
fn generic(model: &Model, object: &ObjectShape) -> Option<&'static str> {
    match &names(model, object)?[..] {
        ["id", "jsonrpc", "method", "params"] => Some("RequestOf"),
        ["jsonrpc", "method", "params"] => Some("NotificationOf"),
        ["method", "params"] => Some("BareOf"),
        _ => None,
    }
}

/// Returns the names of the members, where `jsonrpc` and `id` are what they are in JSON-RPC, and others may follow.
fn names<'m>(model: &Model, object: &'m ObjectShape) -> Option<Vec<&'m str>> {
    let fits = |member: &Member| match member.wire.as_str() {
        "jsonrpc" => member.presence == Presence::Constant(Value::from("2.0")),
        "id" => {
            let ty = runtime_path(model.resolve(&member.ty));
            member.presence == Presence::Required && ty.as_deref() == Some("mcp_wire::RequestId")
        }
        "method" => matches!(member.presence, Presence::Constant(Value::String(_))),
        // An optional value that may be `null` is read by another rule.
        "params" => {
            !member.boxed && !matches!(model.resolve(&member.ty), Ty::Json | Ty::Nullable(_))
        }
        _ => !member.boxed,
    };
    let all = object.rest == Rest::Open && object.members.iter().all(fits);
    all.then(|| {
        (object.members.iter())
            .map(|member| member.wire.as_str())
            .collect()
    })
}

fn need(member: &Member) -> TokenStream {
    match member.presence {
        Presence::Required => quote!(required),
        _ => quote!(optional),
    }
}

/// Returns the Rust name of the whole response to a request, if it holds the result of the method and nothing else.
fn response(model: &Model, method: &ModelMethod) -> Option<String> {
    let request = model.get(&method.message)?.definition.as_deref()?;
    let def = model.definition(&roles::response(roles::stem(request)))?;
    let object = def.shape.object()?;
    let result = object.member("result")?;
    let is_it = names(model, object)? == ["id", "jsonrpc", "result"]
        && result.presence == Presence::Required
        && Some(&result.ty) == method.result.as_ref();
    is_it.then(|| def.name.clone())
}

/// Returns a name for the method of a message: `CallToolMethod` of `CallToolRequest`, unless that stands for something else.
fn method_name(model: &Model, message: &str, used: &mut SortedSet<String>) -> String {
    let stem = ["Request", "Notification"]
        .iter()
        .find_map(|end| message.strip_suffix(end))
        .filter(|stem| !stem.is_empty())
        .unwrap_or(message);
    let is_free = |name: &String| {
        model.get(name).is_none()
            && !TAKEN.contains(&name.as_str())
            && !WIRE.contains(&name.as_str())
    };
    let others = (2..).map(|number| format!("{message}Method{number}"));
    let mut names = [stem, message]
        .map(|stem| format!("{stem}Method"))
        .into_iter()
        .chain(others);
    let name = names
        .find(|name| is_free(name) && !used.contains(name))
        .unwrap_or_default();
    used.insert(name.clone());
    name
}
