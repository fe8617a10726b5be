//! One value on its way to another type.

use super::Emitter;
use mcp_schema::shims::exact::target;
use mcp_schema::shims::plan::Transfer;
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter {
    /// A value of a member, converted; losses get the member's name.
    pub(super) fn member(
        &self,
        transfer: &Transfer,
        wire: &str,
        value: TokenStream,
    ) -> TokenStream {
        match self.is_exact(transfer) {
            true => self.convert(transfer, value),
            false => {
                let (method, inner) = match transfer {
                    Transfer::List(inner) => (quote!(list), &**inner),
                    transfer => (quote!(member), transfer),
                };
                let function = self.each_fallible(inner);
                quote!(cx.#method(#wire, #value, #function)?)
            }
        }
    }

    /// A value, converted, in a place where `?` works.
    pub(super) fn convert(&self, transfer: &Transfer, value: TokenStream) -> TokenStream {
        if !self.is_exact(transfer) {
            let run = self.fallible(transfer, value);
            return quote!(#run?);
        }
        match transfer {
            Transfer::Move => value,
            Transfer::Widen => quote!(#value.into()),
            Transfer::Call { .. } => {
                let function = self.function_of(transfer);
                quote!(#function(#value))
            }
            Transfer::List(inner) => {
                let each = self.each(inner);
                quote!(#value.into_iter().map(#each).collect())
            }
            Transfer::Map(inner) => {
                let each = self.convert(inner, quote!(value));
                quote!(#value.into_iter().map(|(name, value)| (name, #each)).collect())
            }
            Transfer::Nullable(inner) => {
                let each = self.each(inner);
                quote!(#value.map(#each))
            }
            Transfer::OrNull(inner) => {
                let value = self.convert(inner, value);
                quote!(Some(#value))
            }
        }
    }

    pub(super) fn each(&self, inner: &Transfer) -> TokenStream {
        match self.function_of(inner) {
            Some(function) => function,
            None => {
                let each = self.convert(inner, quote!(value));
                quote!(|value| #each)
            }
        }
    }

    /// As a `Result`.
    pub(super) fn fallible(&self, transfer: &Transfer, value: TokenStream) -> TokenStream {
        let function = |inner: &Transfer| self.each_fallible(inner);
        match transfer {
            Transfer::Call { .. } => {
                let function = function(transfer);
                quote!(#function(#value, cx))
            }
            Transfer::List(inner) => {
                let function = function(inner);
                quote!(cx.items(#value, #function))
            }
            Transfer::Map(inner) => {
                let function = function(inner);
                quote!(cx.map(#value, #function))
            }
            Transfer::Nullable(inner) => {
                let run = self.fallible(inner, quote!(value));
                quote!(match #value { Some(value) => #run.map(Some), None => Ok(None) })
            }
            Transfer::OrNull(inner) => {
                let run = self.fallible(inner, value);
                quote!(#run.map(Some))
            }
            Transfer::Move | Transfer::Widen => {
                let value = self.convert(transfer, value);
                quote!(Ok(#value))
            }
        }
    }

    /// A function that converts one item and may fail.
    pub(super) fn each_fallible(&self, inner: &Transfer) -> TokenStream {
        match inner {
            Transfer::Call { from, to } => {
                let name = &self.of(from, to).name;
                quote!(#name)
            }
            inner => {
                let run = self.fallible(inner, quote!(value));
                quote!(|value, cx| #run)
            }
        }
    }

    pub(super) fn is_exact(&self, transfer: &Transfer) -> bool {
        target(transfer).is_none_or(|(from, to)| self.of(&from, &to).exact)
    }

    /// The path of a function that cannot fail and does this transfer.
    pub(super) fn function_of(&self, transfer: &Transfer) -> Option<TokenStream> {
        match transfer {
            Transfer::Call { from, to } if self.is_exact(transfer) => {
                let name = &self.of(from, to).name;
                Some(quote!(#name))
            }
            _ => None,
        }
    }
}
