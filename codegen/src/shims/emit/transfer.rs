//! One value on its way to another type.

use super::Emitter;
use mcp_schema::shims::effect::target;
use mcp_schema::shims::plan::{Effect, Transfer};
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
        if self.is_exact(transfer) {
            return self.convert(transfer, value);
        }
        match transfer {
            Transfer::List(inner) => {
                let each = self.each_with_context(inner);
                self.all(inner, quote!(cx.list(#wire, #value, #each)))
            }
            transfer => {
                let each = self.each_with_context(transfer);
                let question = self.is_fallible(transfer).then(|| quote!(?));
                quote!(cx.member(#wire, #value, #each) #question)
            }
        }
    }

    /// The items of a list that were converted one by one, in a place where `?` works.
    pub(super) fn all(&self, inner: &Transfer, items: TokenStream) -> TokenStream {
        match self.is_fallible(inner) {
            true => quote!(Context::all(#items)?),
            false => items,
        }
    }

    /// A value, converted, in a place where `?` works.
    pub(super) fn convert(&self, transfer: &Transfer, value: TokenStream) -> TokenStream {
        if !self.is_exact(transfer) {
            let question = self.is_fallible(transfer).then(|| quote!(?));
            let run = self.with_context(transfer, value);
            return quote!(#run #question);
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

    /// A value, converted by functions that take a context; a `Result` where one of them may stop.
    fn with_context(&self, transfer: &Transfer, value: TokenStream) -> TokenStream {
        let is_fallible = self.is_fallible(transfer);
        match transfer {
            Transfer::Call { .. } => {
                let function = self.each_with_context(transfer);
                quote!(#function(#value, cx))
            }
            Transfer::List(inner) => {
                let each = self.each_with_context(inner);
                let items = quote!(cx.items(#value, #each));
                if is_fallible {
                    quote!(Context::all(#items))
                } else {
                    items
                }
            }
            Transfer::Map(inner) => {
                let each = self.each_with_context(inner);
                let values = quote!(cx.map(#value, #each));
                match is_fallible {
                    true => quote!(Context::all_values(#values)),
                    false => values,
                }
            }
            Transfer::Nullable(inner) => {
                let run = self.with_context(inner, quote!(value));
                match is_fallible {
                    true => {
                        quote!(match #value { Some(value) => #run.map(Some), None => Ok(None) })
                    }
                    false => quote!(#value.map(|value| #run)),
                }
            }
            Transfer::OrNull(inner) => {
                let run = self.with_context(inner, value);
                if is_fallible {
                    quote!(#run.map(Some))
                } else {
                    quote!(Some(#run))
                }
            }
            Transfer::Move | Transfer::Widen => self.convert(transfer, value),
        }
    }

    /// A function that converts one item, given a context.
    pub(super) fn each_with_context(&self, inner: &Transfer) -> TokenStream {
        match inner {
            Transfer::Call { from, to } if !self.is_exact(inner) => {
                let name = &self.of(from, to).name;
                quote!(#name)
            }
            inner if self.is_exact(inner) => {
                let run = self.convert(inner, quote!(value));
                quote!(|value, _| #run)
            }
            inner => {
                let run = self.with_context(inner, quote!(value));
                quote!(|value, cx| #run)
            }
        }
    }

    pub(super) fn is_exact(&self, transfer: &Transfer) -> bool {
        self.effect(transfer) == Effect::Exact
    }

    pub(super) fn is_fallible(&self, transfer: &Transfer) -> bool {
        self.effect(transfer) == Effect::Fallible
    }

    fn effect(&self, transfer: &Transfer) -> Effect {
        target(transfer).map_or(Effect::Exact, |(from, to)| self.of(&from, &to).effect)
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
