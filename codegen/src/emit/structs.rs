//! Constructors of structs, and their reading and writing.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use serde_json::Value;

use super::fields::{fields_of, flags_of, is_default};
use super::items::doc;
use super::ty::{argument, assign, ident, in_box, rust_type};
use mcp_revisions_schema::Markdown;
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{
    ConstructorArgument, Given, InitialValue, Member, Model, ObjectShape, Presence, Rest,
    SchemaFrame, Shape, Ty, TypeDef,
};
use mcp_revisions_schema::naming::pascal_case;

/// `new` with what must be there and has no value to start from, `with_*` for the rest.
pub(super) fn constructor(model: &Model, def: &TypeDef, object: &ObjectShape) -> TokenStream {
    let name = ident(&def.name);
    let mut arguments = Vec::new();
    let mut fields = Vec::new();
    let mut setters = Vec::new();
    for member in fields_of(object) {
        let field = ident(&member.field);
        let (taken, value) = argument(&field, &member.ty, member.boxed);
        let set = match &member.given {
            Given::Taken(ConstructorArgument { rank, word: None }) => {
                arguments.push((*rank, quote!(#field: #taken)));
                fields.push(assign(&field, &value));
                continue;
            }
            Given::Taken(ConstructorArgument {
                rank,
                word: Some(word),
            }) => {
                let word = ident(word);
                arguments.push((
                    *rank,
                    quote!(#field: mcp_wire::args::#word<impl Into<String>>),
                ));
                fields.push(quote!(#field: #field.0.into()));
                continue;
            }
            Given::Start(start) => {
                let start = started(model, &member.ty, start, member.boxed);
                fields.push(quote!(#field: #start));
                value
            }
            Given::Later => {
                fields.push(quote!(#field: None));
                quote!(Some(#value))
            }
        };
        let setter = format_ident!("with_{}", member.field.trim_end_matches('_'));
        let doc = doc(&Markdown::from("Sets ")
            .then(Markdown::code(&member.wire))
            .then("."));
        setters.push(quote! {
            #(#doc)*
            #[must_use]
            pub fn #setter(mut self, #field: #taken) -> Self {
                self.#field = #set;
                self
            }
        });
    }
    arguments.sort_by_key(|(rank, _)| *rank);
    let taken = arguments.iter().map(|(_, argument)| argument);
    let extra = (object.rest != Rest::Closed).then(|| quote!(extra: Map::new(),));
    // What can be made of nothing has `Default`, and says what it starts from.
    let made_of_nothing = arguments.is_empty() && !is_default(object);
    let default = made_of_nothing
        .then(|| quote!(impl Default for #name { fn default() -> Self { Self::new() } }));
    // A line promises setters only where there are some.
    let about = match (is_default(object), setters.is_empty()) {
        (true, true) => "Creates an empty value.",
        (true, false) => "Creates an empty value; the `with_*` methods set its fields.",
        (false, true) => "Creates a value with its fields.",
        (false, false) => {
            "Creates a value with its required fields; the `with_*` methods set the others."
        }
    };
    let about = doc(&about.into());
    let new = if is_default(object) {
        quote!(Self::default())
    } else {
        quote!(Self { #(#fields,)* #extra })
    };
    quote! {
        impl #name {
            #(#about)*
            #[must_use]
            pub fn new(#(#taken),*) -> Self { #new }
            #(#setters)*
        }
        #default
    }
}

/// Returns an accessor of each flag whose absence means something.
pub(super) fn flags(def: &TypeDef, object: &ObjectShape, docs: &TypeDocs) -> Option<TokenStream> {
    let accessors: Vec<TokenStream> = flags_of(def, object, docs)
        .map(|(member, absent)| {
            let field = ident(&member.field);
            let absence = if absent {
                "; absent means `true`."
            } else {
                "; absent means `false`."
            };
            let about = Markdown::from("Returns ").then(Markdown::code(&member.wire));
            let about = doc(&about.then(absence));
            quote! {
                #(#about)*
                #[must_use]
                pub fn #field(&self) -> bool { self.#field.unwrap_or(#absent) }
            }
        })
        .collect();
    let name = ident(&def.name);
    (!accessors.is_empty()).then(|| quote!(impl #name { #(#accessors)* }))
}

/// Returns the value that a member starts from, which is one of its type.
fn started(model: &Model, ty: &Ty, start: &InitialValue, boxed: bool) -> TokenStream {
    let value = match (start, model.resolve(ty)) {
        (InitialValue::ProtocolVersion, _) => quote!(crate::PROTOCOL_VERSION.to_owned()),
        (InitialValue::Value(Value::String(choice)), Ty::Named(name)) if !matches!(model.shape(name), Some(Shape::OpenEnum(known)) if !known.contains(choice)) =>
        {
            let (name, choice) = (ident(name), ident(&pascal_case(choice)));
            quote!(#name::#choice)
        }
        (InitialValue::Value(Value::String(text)), Ty::Named(_)) => quote!(#text.into()),
        (InitialValue::Value(Value::String(text)), _) => quote!(#text.to_owned()),
        (InitialValue::Value(Value::Bool(value)), _) => quote!(#value),
        (InitialValue::Value(Value::Number(number)), _) => {
            let number = Literal::i64_unsuffixed(number.as_i64().unwrap_or_default());
            quote!(#number.into())
        }
        (InitialValue::Value(_), _) => {
            let ty = rust_type(ty);
            quote!(#ty::new())
        }
    };
    in_box(value, boxed)
}

/// Reading and writing of a struct, as a table of its members.
pub(super) fn wire(model: &Model, def: &TypeDef, object: &ObjectShape) -> TokenStream {
    let name = ident(&def.name);
    let rest = match object.rest {
        Rest::Open => quote!(open),
        Rest::Typed(_) => quote!(typed),
        Rest::Closed => quote!(closed),
    };
    let places = read_order(object);
    let place = |member: &Member| places.iter().position(|other| other.wire == member.wire);
    let lines = wire_order(object).into_iter().map(|member| {
        let (place, wire) = (number(place(member).unwrap_or_default()), &member.wire);
        // A constant has no field in Rust, so that its name may be one that Rust does not accept.
        match (&member.presence, model.resolve(&member.ty)) {
            (Presence::Constant(Value::String(text)), _) => {
                quote!(const #place #wire: constant(#text);)
            }
            (Presence::Constant(value), _) => {
                let spelled = value.to_string();
                quote!(const #place #wire: constant_literal(#spelled);)
            }
            (presence, ty) => {
                let (field, how) = (ident(&member.field), how(presence, ty));
                let frame = member.frame.as_ref().map(|said| {
                    let name = format!("{}.{wire}", def.places[0]);
                    let said = frame(&name, said);
                    quote!(in #said)
                });
                quote!(#place #wire: #how #field #frame;)
            }
        }
    });
    quote!(mcp_wire::record! { #name #rest { #(#lines)* } })
}

/// Returns the frame of a value that is kept as text; `name` is that of its place in errors and rules.
fn frame(name: &str, said: &SchemaFrame) -> TokenStream {
    let inner = |kind: &str, inner: &SchemaFrame| {
        let (kind, inner) = (ident(kind), frame(name, inner));
        quote!(mcp_wire::Frame::#kind(&#inner))
    };
    match said {
        SchemaFrame::Any => quote!(mcp_wire::Frame::Any),
        SchemaFrame::Constant(text) => quote!(mcp_wire::Frame::Constant(#text)),
        SchemaFrame::String => quote!(mcp_wire::Frame::String),
        SchemaFrame::Boolean => quote!(mcp_wire::Frame::Boolean),
        SchemaFrame::Object => quote!(mcp_wire::Frame::Object),
        SchemaFrame::List(entry) => inner("List", entry),
        SchemaFrame::Each(each) => inner("Each", each),
        SchemaFrame::Members(members) => {
            let names = members.iter().map(|member| &member.wire);
            let needed = members
                .iter()
                .enumerate()
                .filter(|(_, member)| member.required);
            let required = needed.map(|(at, _)| number(at));
            let values = members
                .iter()
                .map(|member| frame(&format!("{name}.{}", member.wire), &member.value));
            quote! {
                mcp_wire::Frame::members(#name, &[#(#names),*], &[#(#required),*], &[#(#values),*])
            }
        }
    }
}

/// Returns the word for how a member is read.
fn how(presence: &Presence, ty: &Ty) -> Ident {
    ident(match (presence, ty) {
        (Presence::Optional, Ty::Json) => "json",
        (Presence::Optional, Ty::Nullable(_)) => "nullable",
        (Presence::Optional, _) => "optional",
        _ => "required",
    })
}

/// `Decode`, `Encode` and the ways in and out of a newtype.
pub(super) fn newtype(def: &TypeDef, ty: &Ty) -> (TokenStream, TokenStream) {
    let name = ident(&def.name);
    let inner = rust_type(ty);
    let texts = (*ty == Ty::String).then(|| {
        quote! {
            impl From<&str> for #name {
                fn from(value: &str) -> Self { Self(value.to_owned()) }
            }
        }
    });
    let ways = quote! {
        impl From<#inner> for #name {
            fn from(value: #inner) -> Self { Self(value) }
        }
        impl From<#name> for #inner {
            fn from(value: #name) -> Self { value.0 }
        }
        #texts
    };
    let wire = quote! {
        impl Decode for #name {
            fn blank() -> Self { Self(Decode::blank()) }

            fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> { self.0.fill(reader) }
        }
        impl Encode for #name {
            fn encode(&self, writer: &mut Writer) { self.0.encode(writer); }
        }
    };
    (ways, wire)
}

/// Returns the members as they are written: constants first, so that a reader that has to decide can do so at once.
fn wire_order(object: &ObjectShape) -> Vec<&Member> {
    let mut members: Vec<&Member> = object.members.iter().collect();
    members.sort_by_key(|member| match &member.presence {
        Presence::Constant(_) => (0, member.wire.as_str()),
        Presence::Required | Presence::Optional => (1, member.wire.as_str()),
    });
    members
}

/// Returns the members as they are looked for: what must be there before what is mostly left out, as a reader tries the next
/// one first.
fn read_order(object: &ObjectShape) -> Vec<&Member> {
    let mut members = wire_order(object);
    members.sort_by_key(|member| member.presence == Presence::Optional);
    members
}

pub(super) fn number(index: usize) -> TokenStream {
    Literal::usize_unsuffixed(index).into_token_stream()
}
