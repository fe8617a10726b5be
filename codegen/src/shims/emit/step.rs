//! One value on its way to another type.

use super::Emitter;
use mcp_schema::shims::exact::target;
use mcp_schema::shims::plan::Step;
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter {
    /// A value of a member, converted; losses get the member's name.
    pub(super) fn member(&self, step: &Step, wire: &str, value: TokenStream) -> TokenStream {
        match self.is_exact(step) {
            true => self.convert(step, value),
            false => {
                let run = self.fallible(step, value);
                quote!(cx.member(#wire, |cx| #run)?)
            }
        }
    }

    /// A value, converted, in a place where `?` works.
    pub(super) fn convert(&self, step: &Step, value: TokenStream) -> TokenStream {
        if !self.is_exact(step) {
            let run = self.fallible(step, value);
            return quote!(#run?);
        }
        match step {
            Step::Move => value,
            Step::Widen => quote!(#value.into()),
            Step::Call { .. } => {
                let function = self.function_of(step);
                quote!(#function(#value))
            }
            Step::List(inner) => {
                let each = self.each(inner);
                quote!(#value.into_iter().map(#each).collect())
            }
            Step::Map(inner) => {
                let each = self.convert(inner, quote!(value));
                quote!(#value.into_iter().map(|(name, value)| (name, #each)).collect())
            }
            Step::Nullable(inner) => {
                let each = self.each(inner);
                quote!(#value.map(#each))
            }
            Step::OrNull(inner) => {
                let value = self.convert(inner, value);
                quote!(Some(#value))
            }
        }
    }

    pub(super) fn each(&self, inner: &Step) -> TokenStream {
        match self.function_of(inner) {
            Some(function) => function,
            None => {
                let each = self.convert(inner, quote!(value));
                quote!(|value| #each)
            }
        }
    }

    /// As a `Result`.
    pub(super) fn fallible(&self, step: &Step, value: TokenStream) -> TokenStream {
        let function = |inner: &Step| self.each_fallible(inner);
        match step {
            Step::Call { .. } => {
                let function = function(step);
                quote!(#function(#value, cx))
            }
            Step::List(inner) => {
                let function = function(inner);
                quote!(cx.list(#value, #function))
            }
            Step::Map(inner) => {
                let function = function(inner);
                quote!(cx.map(#value, #function))
            }
            Step::Nullable(inner) => {
                let run = self.fallible(inner, quote!(value));
                quote!(match #value { Some(value) => #run.map(Some), None => Ok(None) })
            }
            Step::OrNull(inner) => {
                let run = self.fallible(inner, value);
                quote!(#run.map(Some))
            }
            Step::Move | Step::Widen => {
                let value = self.convert(step, value);
                quote!(Ok(#value))
            }
        }
    }

    /// A function that converts one item and may fail.
    pub(super) fn each_fallible(&self, inner: &Step) -> TokenStream {
        match inner {
            Step::Call { from, to } => {
                let name = &self.of(from, to).name;
                quote!(#name)
            }
            inner => {
                let run = self.fallible(inner, quote!(value));
                quote!(|value, cx| #run)
            }
        }
    }

    pub(super) fn is_exact(&self, step: &Step) -> bool {
        target(step).is_none_or(|(from, to)| self.of(&from, &to).exact)
    }

    /// The path of a function that cannot fail and does this step.
    pub(super) fn function_of(&self, step: &Step) -> Option<TokenStream> {
        match step {
            Step::Call { from, to } if self.is_exact(step) => {
                let name = &self.of(from, to).name;
                Some(quote!(#name))
            }
            _ => None,
        }
    }
}
