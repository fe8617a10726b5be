//! The services of a revision: for each side the handlers of its methods, what dispatches to them, and typed calls.
//!
//! Functions are thin: what need not know a type is a routine of `mcp_wire::service`.

use mcp_revisions_schema::sorted::SortedSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::CrateFacts;
use super::items::doc;
use super::ty::{ident, params_type, rust_type};
use mcp_revisions_schema::Markdown;
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Direction, Given, Member, MethodKind, Model, ModelMethod};
use mcp_revisions_schema::names;
use mcp_revisions_schema::naming::{pascal_case, snake_case};
use mcp_revisions_schema::spec::extensions::Roles;

/// What a side is called in generated code.
struct ServiceSide {
    direction: Direction,
    /// Who answers, in words.
    who: String,
    handlers: Ident,
    calls: Ident,
    marker: Ident,
}

impl ServiceSide {
    /// Returns the side that answers the messages of this direction.
    fn of(direction: Direction, roles: &Roles) -> Self {
        let (who, marker) = match direction {
            Direction::ClientToServer => (&roles.server, "Server"),
            Direction::ServerToClient => (&roles.client, "Client"),
        };
        let name = pascal_case(who);
        Self {
            direction,
            who: who.clone(),
            handlers: format_ident!("{name}Handlers"),
            calls: format_ident!("Call{name}"),
            marker: format_ident!("{marker}Side"),
        }
    }
}

/// The functions of `Caller` itself.
const OWN: [&str; 2] = ["notification", "request"];

/// A method as a function.
struct ServiceFunction<'m> {
    name: Ident,
    method: &'m ModelMethod,
    params: TokenStream,
    docs: Markdown,
    /// That it goes away.
    deprecated: Option<TokenStream>,
}

pub(super) fn services(model: &Model, docs: &TypeDocs, facts: &CrateFacts) -> TokenStream {
    let mut body = quote!(
        use mcp_wire::service;
    );
    let roles = facts
        .extension
        .as_ref()
        .map(|of| of.roles.clone())
        .unwrap_or_default();
    for side in Direction::ALL.map(|direction| ServiceSide::of(direction, &roles)) {
        let functions = functions(model, docs, facts, &side);
        body.extend(handlers(&side, &functions));
        body.extend(dispatch(&side, &functions));
        body.extend(calls(model, facts, &side, &functions));
    }
    body
}

fn functions<'m>(
    model: &'m Model,
    docs: &TypeDocs,
    facts: &CrateFacts,
    side: &ServiceSide,
) -> Vec<ServiceFunction<'m>> {
    let mut functions = Vec::new();
    let mut taken: SortedSet<String> = SortedSet::new();
    let of_side = |method: &&ModelMethod| method.direction == side.direction;
    let asked: SortedSet<&str> = (model.methods.iter().filter(of_side))
        .filter(|method| method.kind == MethodKind::Request)
        .map(|method| method.name.as_str())
        .collect();
    // What is asked by a request and in a result, too, is answered by one function.
    let again =
        |method: &ModelMethod| method.kind == MethodKind::Input && asked.contains(&*method.name);
    for method in model.methods.iter().filter(of_side) {
        if again(method) {
            continue;
        }
        let mut name = function_name(method);
        // Where a request and a notification share it, the second one is called by its whole name.
        if taken.contains(&name) || OWN.contains(&name.as_str()) {
            name = snake_case(&method.message);
        }
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{}_{number}", name.trim_end_matches('_'));
            number += 1;
        }
        let line = model
            .get(&method.message)
            .map(|def| docs.ty(def))
            .unwrap_or_default();
        let name_of_method = Markdown::code(&method.name);
        functions.push(ServiceFunction {
            name: ident(&name),
            method,
            params: params_type(method),
            docs: if line.as_str().starts_with(name_of_method.as_str()) {
                line
            } else {
                name_of_method.then(": ").then(line)
            },
            deprecated: (facts.deprecated.get(&method.name))
                .map(|why| quote!(#[deprecated(note = #why)])),
        });
    }
    functions
}

/// `CallToolRequest` becomes `call_tool`, `ProgressNotification` becomes `progress`.
fn function_name(method: &ModelMethod) -> String {
    let suffix = match method.kind {
        MethodKind::Request | MethodKind::Input => "Request",
        MethodKind::Notification => "Notification",
    };
    let stem = method.message.strip_suffix(suffix);
    snake_case(
        stem.filter(|stem| !stem.is_empty())
            .unwrap_or(&method.message),
    )
}

fn handlers(side: &ServiceSide, functions: &[ServiceFunction<'_>]) -> TokenStream {
    let name = &side.handlers;
    let about = Markdown::from("What a ").then(Markdown::prose(&side.who)).then(
        " answers: a method for each request and each notification.\n\nA request that is not handled is answered as one whose method is not there; a notification is left alone.",
    );
    let about = doc(&about);
    let methods = functions.iter().map(|function| {
        let ServiceFunction {
            name,
            method,
            params,
            docs,
            deprecated,
        } = function;
        let about = doc(docs);
        let (output, absent) = match &method.result {
            Some(result) => {
                let (result, wire) = (rust_type(result), &method.name);
                (
                    quote!(Result<#result, Cx::Error>),
                    quote!(service::absent(#wire)),
                )
            }
            None => (quote!(()), quote!(std::future::ready(()))),
        };
        quote! {
            #(#about)*
            #deprecated
            fn #name(&self, params: #params, cx: Cx) -> impl Future<Output = #output> + Send {
                drop((params, cx));
                #absent
            }
        }
    });
    quote! {
        #(#about)*
        pub trait #name<Cx: service::Context>: Sync {
            #(#methods)*
        }

        /// Handles nothing.
        impl<Cx: service::Context> #name<Cx> for () {}
    }
}

fn dispatch(side: &ServiceSide, functions: &[ServiceFunction<'_>]) -> TokenStream {
    let ServiceSide {
        handlers, marker, ..
    } = side;
    let (answered, told): (Vec<_>, Vec<_>) =
        (functions.iter()).partition(|function| function.method.result.is_some());
    let arm = |routine: &str, function: &ServiceFunction<'_>| {
        let (routine, method, name) = (ident(routine), &function.method.name, &function.name);
        quote!(#method => service::#routine(params, |params| handlers.#name(params, cx)).await,)
    };
    let decided = |arms: Vec<TokenStream>, unused: TokenStream, absent: TokenStream| match arms[..]
    {
        [] => quote!(drop(#unused); #absent),
        _ => quote!(match method { #(#arms)* _ => #absent, }),
    };
    let requests = answered.iter().map(|function| arm("answer", function));
    let absent = quote!(service::absent(method).await);
    let request = decided(requests.collect(), quote!((handlers, params, cx)), absent);
    let notifications = told.iter().map(|function| arm("hand_on", function));
    let unused = quote!((handlers, method, params, cx));
    let notification = decided(notifications.collect(), unused, quote!(Ok(())));
    let implemented = answered.iter().map(|function| {
        let (method, name) = (&function.method.name, &function.name);
        quote!(service::implemented(#method, H::#name))
    });
    let all = if answered.is_empty() {
        quote!(Vec::new())
    } else {
        quote!([#(#implemented),*].into_iter().flatten().collect())
    };
    // Deprecated methods are handled until a revision removes them.
    let deprecated = functions
        .iter()
        .any(|function| function.deprecated.is_some());
    let allowed = deprecated.then(|| quote!(#[allow(deprecated)]));
    quote! {
        #allowed
        impl<H: #handlers<Cx> + ?Sized, Cx: service::Context> service::Serves<service::#marker, H, Cx> for crate::Protocol {
            async fn request(handlers: &H, method: &str, params: &Json, cx: Cx) -> Result<Json, Cx::Error> {
                #request
            }

            async fn notification(handlers: &H, method: &str, params: &Json, cx: Cx) -> Result<(), mcp_wire::Error> {
                #notification
            }

            fn implemented() -> Vec<&'static str>
            where
                H: Sized + 'static,
                Cx: 'static,
            {
                #all
            }
        }
    }
}

fn calls(
    model: &Model,
    facts: &CrateFacts,
    side: &ServiceSide,
    functions: &[ServiceFunction<'_>],
) -> TokenStream {
    let name = &side.calls;
    // The requests of an extension are made on connections of its revision.
    let protocol = match &facts.extension {
        Some(_) => {
            let library = ident(&names::library(&facts.revision));
            quote!(#library::Protocol)
        }
        None => quote!(crate::Protocol),
    };
    let about = Markdown::from("Typed calls to a ").then(Markdown::prose(&side.who));
    let about = doc(&about.then(", for every [`Caller`](service::Caller) of this revision."));
    let methods = functions.iter().map(|function| {
        let ServiceFunction {
            name,
            method,
            params,
            docs,
            deprecated,
        } = function;
        let about = doc(&docs.clone().then("\n\n# Errors\n").then(
            match method.kind {
                MethodKind::Notification => "Those of the [`Caller`](service::Caller).",
                MethodKind::Request | MethodKind::Input =>
                    "The peer's own, those of the [`Caller`](service::Caller), and a result that is not of the type.",
            }
        ));
        let wire = &method.name;
        let optional = quote!(impl Into<Option<#params>>);
        let (taken, given) = match (method.params_required, made_of_nothing(model, method)) {
            (false, _) => (optional, quote!(params.into().as_ref().map(Json::of))),
            (true, true) => {
                let given = quote!(Some(Json::of(&params.into().unwrap_or_default())));
                (optional, given)
            }
            (true, false) => (params.clone(), quote!(Some(Json::of(&params)))),
        };
        let (output, call) = match &method.result {
            // The runtime answers requests for input: callers get the complete result.
            Some(result) => (
                rust_type(method.complete.as_ref().unwrap_or(result)),
                quote!(service::call(self, #wire, #given)),
            ),
            None => (quote!(()), quote!(self.notification(#wire, #given))),
        };
        quote! {
            #(#about)*
            #deprecated
            fn #name(&self, params: #taken) -> impl Future<Output = Result<#output, Self::Error>> + Send {
                #call
            }
        }
    });
    quote! {
        #(#about)*
        pub trait #name: service::Caller<Protocol = #protocol> + Sized {
            #(#methods)*
        }

        impl<C: service::Caller<Protocol = #protocol>> #name for C {}
    }
}

/// Returns whether the params of a method can be made without arguments.
fn made_of_nothing(model: &Model, method: &ModelMethod) -> bool {
    let object = method.params.as_ref().and_then(|ty| model.object(ty));
    let taken = |member: &Member| matches!(member.given, Given::Taken(_));
    object.is_some_and(|object| !object.members.iter().any(taken))
}
