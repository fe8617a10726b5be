//! What rules name, as code: functions, adapters, errors, kinds of loss.

use mcp_convert::Adapter;
use mcp_revisions_plans::UNDECIDED;
use mcp_revisions_plans::plan::{HookCall, may_stop};
use mcp_revisions_plans::rules::{Reject, RuleSeverity};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// Returns the value of a field as an `Option`, out of its box.
pub(super) fn option(field: &Ident, optional: bool, boxed: bool) -> TokenStream {
    match (optional, boxed) {
        (true, true) => quote!(#field.map(|value| *value)),
        (true, false) => quote!(#field),
        (false, true) => quote!(Some(*#field)),
        (false, false) => quote!(Some(#field)),
    }
}

/// Returns a hand-written function of the pair: files of conversions import their pair's module as `hooks`.
pub(super) fn path(path: &str) -> TokenStream {
    let segments = path
        .trim_end_matches('?')
        .split("::")
        .map(|segment| format_ident!("{segment}"));
    quote!(hooks::#(#segments)::*)
}

/// Returns the `?` behind a call of a hand-written function that may stop.
pub(super) fn question(path: &str) -> Option<TokenStream> {
    may_stop(path).then(|| quote!(?))
}

pub(in crate::shims) fn adapter(adapter: Adapter) -> TokenStream {
    let variant = format_ident!("{adapter:?}");
    quote!(Adapter::#variant)
}

/// Returns the code of an error; the ends of all codes by their names.
pub(in crate::shims) fn code(code: i64) -> TokenStream {
    match code {
        i64::MIN => quote!(i64::MIN),
        i64::MAX => quote!(i64::MAX),
        code => Literal::i64_unsuffixed(code).into_token_stream(),
    }
}

pub(super) fn reject(id: &str, error: &Reject) -> TokenStream {
    let Reject { code, message } = error;
    let (rule, code) = (rule(id), self::code(*code));
    quote!(cx.reject(#rule, #code, #message))
}

/// Returns a rule of the pair: files of conversions import their pair's `rules`.
pub(in crate::shims) fn rule(id: &str) -> TokenStream {
    if id == UNDECIDED {
        return quote!(&mcp_convert::Rule::UNDECIDED);
    }
    let name = name(id);
    quote!(&rules::#name)
}

/// Returns the name of the constant that stands for a rule.
pub(in crate::shims) fn name(id: &str) -> Ident {
    format_ident!("{}", id.replace('-', "_").to_uppercase())
}

/// Returns a hand-written function, called in the name of its rule.
pub(super) fn call(hook: &HookCall, arguments: TokenStream) -> TokenStream {
    let (path, rule) = (path(&hook.path), rule(&hook.rule));
    quote!(#path(#arguments, &mut cx.under(#rule)))
}

/// Returns the call of a hand-written function, in a place where `?` works.
pub(super) fn called(hook: &HookCall, arguments: TokenStream) -> TokenStream {
    let (call, question) = (call(hook, arguments), question(&hook.path));
    quote!(#call #question)
}

pub(in crate::shims) fn severity_constant(severity: RuleSeverity) -> TokenStream {
    let name = format_ident!("{severity:?}");
    quote!(Severity::#name)
}
