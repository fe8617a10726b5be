//! Constructors of structs, and their reading and writing.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::items::{doc, is_default};
use super::ty::{argument, assign, ident, rust_type};
use crate::model::{Member, Object, Presence, Rest, Ty, TypeDef};

/// `new` with what must be there, `with_*` for the rest.
pub(super) fn constructor(def: &TypeDef, object: &Object) -> TokenStream {
    let name = ident(&def.name);
    let mut arguments = Vec::new();
    let mut fields = Vec::new();
    let mut setters = Vec::new();
    for member in fields_of(object) {
        let field = ident(&member.field);
        let (taken, value) = argument(&field, &member.ty, member.boxed);
        if member.presence == Presence::Required {
            arguments.push(quote!(#field: #taken));
            fields.push(assign(&field, &value));
        } else {
            let setter = format_ident!("with_{}", member.field.trim_end_matches('_'));
            let doc = doc(&format!("Sets `{}`.", member.wire));
            fields.push(quote!(#field: None));
            setters.push(quote! {
                #(#doc)*
                #[must_use]
                pub fn #setter(mut self, #field: #taken) -> Self {
                    self.#field = Some(#value);
                    self
                }
            });
        }
    }
    let extra = (object.rest != Rest::Closed).then(|| quote!(extra: Map::new(),));
    // What can be made of nothing has `Default`, and says what it starts from.
    let new = if is_default(object) {
        quote! {
            /// An empty one; `with_*` sets what it holds.
            #[must_use]
            pub fn new() -> Self { Self::default() }
        }
    } else {
        quote! {
            /// One with what must be there; `with_*` sets the rest.
            #[must_use]
            pub fn new(#(#arguments),*) -> Self {
                Self { #(#fields,)* #extra }
            }
        }
    };
    quote! {
        impl #name {
            #new
            #(#setters)*
        }
    }
}

/// `Decode` and `Encode` of a struct.
pub(super) fn wire(def: &TypeDef, object: &Object) -> TokenStream {
    let decode = decode(def, object);
    let encode = encode(def, object);
    quote!(#decode #encode)
}

fn decode(def: &TypeDef, object: &Object) -> TokenStream {
    let name = ident(&def.name);
    let type_name = &def.name;
    let members = wire_order(object);
    let names = members.iter().map(|member| &member.wire);
    let table = match object.rest {
        Rest::Closed => quote!(Members::closed),
        Rest::Open | Rest::Typed(_) => quote!(Members::open),
    };
    let fields: Vec<&Member> = fields_of(object).collect();
    let slots = fields.iter().map(|member| slot(member));
    let count = object.members.len();
    let arms = members.iter().enumerate().map(|(index, member)| {
        let pattern = if index + 1 == count {
            quote!(_)
        } else {
            number(index)
        };
        let read = read(member);
        quote!(#pattern => #read,)
    });
    let next = match object.rest {
        Rest::Typed(_) => quote!(object.next_with(reader, &mut extra)?),
        Rest::Open | Rest::Closed => quote!(object.next(reader)?),
    };
    let typed = matches!(object.rest, Rest::Typed(_)).then(|| quote!(let mut extra = Map::new();));
    let steps = match count {
        // Nothing is known: every member goes to `extra`, or is refused.
        0 => quote!(#next;),
        1 => {
            let read = read(members[0]);
            quote!(while #next.is_some() { #read; })
        }
        _ => quote!(while let Some(member) = #next { match member { #(#arms)* } }),
    };
    let constants = members.iter().enumerate().filter_map(|(index, member)| {
        let index = number(index);
        matches!(member.presence, Presence::Constant(_))
            .then(|| quote!(object.require_seen(#index)?;))
    });
    let values = members.iter().enumerate().filter_map(|(index, member)| {
        let index = number(index);
        match member.presence {
            Presence::Constant(_) => None,
            Presence::Optional => {
                let slot = slot(member);
                let field = assign(&ident(&member.field), &quote!(#slot));
                Some(quote!(#field,))
            }
            Presence::Required => {
                let (field, slot) = (ident(&member.field), slot(member));
                Some(quote!(#field: object.require(#index, #slot)?,))
            }
        }
    });
    let extra = match object.rest {
        Rest::Open => quote!(extra: object.into_extra(),),
        Rest::Typed(_) => quote!(extra,),
        Rest::Closed => quote!(),
    };
    quote! {
        impl Decode for #name {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
                static MEMBERS: Members = #table(#type_name, &[#(#names),*]);
                #(let mut #slots = None;)*
                #typed
                let mut object = reader.object(&MEMBERS)?;
                #steps
                #(#constants)*
                Ok(Self { #(#values)* #extra })
            }
        }
    }
}

/// How the value of a member is read into its slot.
fn read(member: &Member) -> TokenStream {
    match (&member.presence, &member.ty) {
        (Presence::Constant(Value::String(text)), _) => quote!(reader.constant(#text)?),
        (Presence::Constant(value), _) => {
            let value = Literal::i64_unsuffixed(value.as_i64().unwrap_or_default());
            quote!(reader.constant_integer(#value)?)
        }
        // `null` is a value where any JSON may stand.
        (Presence::Required, _) | (Presence::Optional, Ty::Json) => {
            let slot = slot(member);
            quote!(#slot = Some(reader.value()?))
        }
        (Presence::Optional, _) => {
            let slot = slot(member);
            quote!(#slot = reader.optional()?)
        }
    }
}

/// The variable that holds the value of a field until all are there: of the field's name, unless
/// the reading itself goes by it.
fn slot(member: &Member) -> Ident {
    match member.field.as_str() {
        own @ ("member" | "object" | "reader") => format_ident!("{own}_"),
        field => ident(field),
    }
}

fn encode(def: &TypeDef, object: &Object) -> TokenStream {
    let name = ident(&def.name);
    let members = wire_order(object).into_iter().map(|member| {
        let wire = &member.wire;
        match &member.presence {
            Presence::Constant(Value::String(text)) => quote!(object.constant(#wire, #text);),
            Presence::Constant(value) => {
                let value = Literal::i64_unsuffixed(value.as_i64().unwrap_or_default());
                quote!(object.constant_integer(#wire, #value);)
            }
            Presence::Required => {
                let field = ident(&member.field);
                quote!(object.member(#wire, &self.#field);)
            }
            Presence::Optional => {
                let field = ident(&member.field);
                quote!(object.optional(#wire, &self.#field);)
            }
        }
    });
    let extra = (object.rest != Rest::Closed).then(|| quote!(object.extra(&self.extra);));
    let steps = match object.members.is_empty() && extra.is_none() {
        // Nothing is ever put into it.
        true => quote!(writer.object().end();),
        false => quote! {
            let mut object = writer.object();
            #(#members)*
            #extra
            object.end();
        },
    };
    quote! {
        impl Encode for #name {
            fn encode(&self, writer: &mut Writer) { #steps }
        }
    }
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
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
                reader.value().map(Self)
            }
        }
        impl Encode for #name {
            fn encode(&self, writer: &mut Writer) { self.0.encode(writer); }
        }
    };
    (ways, wire)
}

/// The members that are fields, in order of the fields.
pub(super) fn fields_of(object: &Object) -> impl Iterator<Item = &Member> {
    let constant = |member: &&Member| matches!(member.presence, Presence::Constant(_));
    let mut fields: Vec<&Member> = object
        .members
        .iter()
        .filter(|member| !constant(member))
        .collect();
    fields.sort_by(|left, right| left.field.cmp(&right.field));
    fields.into_iter()
}

/// The members as they are written: constants first, so that a reader that has to decide can do so at once.
fn wire_order(object: &Object) -> Vec<&Member> {
    let mut members: Vec<&Member> = object.members.iter().collect();
    members.sort_by_key(|member| match &member.presence {
        Presence::Constant(_) => (0, member.wire.as_str()),
        Presence::Required | Presence::Optional => (1, member.wire.as_str()),
    });
    members
}

pub(super) fn number(index: usize) -> TokenStream {
    let index = Literal::usize_unsuffixed(index);
    quote!(#index)
}
