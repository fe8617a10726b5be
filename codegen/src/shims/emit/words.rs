//! What rules name, as code: functions, adapters, errors, kinds of loss.

use super::super::rules::{Adapter, Loss, Reject};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// A hand-written function of the pair: files of conversions import their pair's module as `hooks`.
pub(super) fn path(path: &str) -> TokenStream {
    let steps = path.split("::").map(|step| format_ident!("{step}"));
    quote!(hooks::#(#steps)::*)
}

pub(in crate::shims) fn adapter(adapter: Adapter) -> TokenStream {
    let variant = format_ident!("{}", adapter.variant());
    quote!(Adapter::#variant)
}

pub(super) fn reject(error: &Reject) -> TokenStream {
    let Reject { code, message } = error;
    let code = Literal::i64_unsuffixed(*code);
    quote!(cx.reject(#code, #message))
}

pub(super) fn kind(loss: Option<Loss>) -> TokenStream {
    match loss {
        Some(Loss::Semantic) => quote!(LossKind::Semantic),
        Some(Loss::Interaction) => quote!(LossKind::Interaction),
        Some(Loss::Safety) => quote!(LossKind::Safety),
        Some(Loss::Cosmetic) | None => quote!(LossKind::Cosmetic),
    }
}
