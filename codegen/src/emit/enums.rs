//! String enums: their strings, and their reading and writing.

use proc_macro2::TokenStream;
use quote::quote;

use super::structs::number;
use super::ty::ident;
use mcp_schema::model::TypeDef;
use mcp_schema::naming::pascal_case;

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

            /// Returns the string that messages carry.
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
    let variants: Vec<_> = (choices.iter())
        .map(|choice| ident(&pascal_case(choice)))
        .collect();
    let (Some(first), Some((last, others))) = (variants.first(), variants.split_last()) else {
        return TokenStream::new();
    };
    let fill = match others {
        [] => quote!(reader.string_enum(&[#(#choices),*])?;),
        _ => {
            let indices = (0..others.len()).map(number);
            quote! {
                *self = match reader.string_enum(&[#(#choices),*])? {
                    #(#indices => Self::#others,)*
                    _ => Self::#last,
                };
            }
        }
    };
    quote! {
        impl Decode for #name {
            fn blank() -> Self { Self::#first }

            fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
                #fill
                Ok(())
            }
        }
        impl Encode for #name {
            fn encode(&self, writer: &mut Writer) { self.as_str().encode(writer); }
        }
    }
}
