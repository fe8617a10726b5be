//! String enums: their strings, and their reading and writing.

use proc_macro2::TokenStream;
use quote::quote;

use super::structs::number;
use super::ty::ident;
use crate::model::TypeDef;
use crate::model::naming::pascal_case;

/// The ways in and out of a string enum.
pub(super) fn ways(def: &TypeDef, choices: &[String]) -> TokenStream {
    let name = ident(&def.name);
    let variants: Vec<_> = choices
        .iter()
        .map(|choice| ident(&pascal_case(choice)))
        .collect();
    let count = number(choices.len());
    quote! {
        impl #name {
            /// All values, in the order of their strings.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];

            /// The string on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#variants => #choices,)* }
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    }
}

/// `Decode` and `Encode` of a string enum.
pub(super) fn wire(def: &TypeDef, choices: &[String]) -> TokenStream {
    let name = ident(&def.name);
    let last = choices.len().saturating_sub(1);
    let arms = choices.iter().enumerate().map(|(index, choice)| {
        let variant = ident(&pascal_case(choice));
        let pattern = if index == last {
            quote!(_)
        } else {
            number(index)
        };
        quote!(#pattern => Self::#variant,)
    });
    let read = match choices.len() {
        1 => {
            let only = ident(&pascal_case(&choices[0]));
            quote!(reader.string_enum(&[#(#choices),*]).map(|_| Self::#only))
        }
        _ => quote!(Ok(match reader.string_enum(&[#(#choices),*])? { #(#arms)* })),
    };
    quote! {
        impl Decode for #name {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> { #read }
        }
        impl Encode for #name {
            fn encode(&self, writer: &mut Writer) { self.as_str().encode(writer); }
        }
    }
}
