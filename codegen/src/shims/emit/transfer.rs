//! One value on its way to another type.

use super::{Emitter, rule as rule_of};
use mcp_revisions_plans::effect::target;
use mcp_revisions_plans::plan::{Effect, LeftOut, Transfer};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter {
    /// Returns a value of a member, converted; losses get the member's name.
    pub(super) fn member(
        &self,
        transfer: &Transfer,
        wire: &str,
        value: TokenStream,
    ) -> TokenStream {
        if self.is_exact(transfer) {
            return self.convert(transfer, value);
        }
        let question = self.is_fallible(transfer).then(|| quote!(?));
        let (method, inner) = match transfer {
            Transfer::List(inner) => (self.method("list", inner), &**inner),
            transfer => (format_ident!("member"), transfer),
        };
        let each = self.each_with_context(inner);
        quote!(cx.#method(#wire, #value, #each) #question)
    }

    /// Returns a list, converted without its items of variants that the target lacks.
    pub(super) fn list_without(
        &self,
        left_out: &[LeftOut],
        item: &Transfer,
        wire: &str,
        value: TokenStream,
    ) -> TokenStream {
        let (source, _) = self.sides();
        let union = target(item).map(|(from, _)| Self::end(&source, &from));
        let lost_by = left_out.iter().map(|LeftOut { variant, rule }| {
            let (variant, rule) = (format_ident!("{variant}"), rule_of(rule));
            quote!(#union::#variant(_) => Some(#rule),)
        });
        let each = self.each_with_context(item);
        quote! {
            cx.list_without(#wire, #value, |item| match item { #(#lost_by)* _ => None }, #each)?
        }
    }

    /// Returns the method of the context that does something to all values: one that may stop has another name.
    fn method(&self, name: &str, inner: &Transfer) -> Ident {
        let prefix = if self.is_fallible(inner) { "try_" } else { "" };
        format_ident!("{prefix}{name}")
    }

    /// Returns a value, converted, in a place where `?` works.
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

    /// Returns a value, converted by functions that take a context; a `Result` where one of them may stop.
    fn with_context(&self, transfer: &Transfer, value: TokenStream) -> TokenStream {
        let is_fallible = self.is_fallible(transfer);
        match transfer {
            Transfer::Call { .. } => {
                let function = self.each_with_context(transfer);
                quote!(#function(#value, cx))
            }
            Transfer::List(inner) | Transfer::Map(inner) => {
                let name = if matches!(transfer, Transfer::List(_)) {
                    "items"
                } else {
                    "map"
                };
                let (method, each) = (self.method(name, inner), self.each_with_context(inner));
                quote!(cx.#method(#value, #each))
            }
            Transfer::Nullable(inner) => {
                let run = self.with_context(inner, quote!(value));
                if is_fallible {
                    quote!(match #value { Some(value) => #run.map(Some), None => Ok(None) })
                } else {
                    quote!(#value.map(|value| #run))
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

    /// Returns a function that converts one item, given a context.
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

    /// Returns the path of a function that cannot fail and does this transfer.
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
