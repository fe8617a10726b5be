//! The attribute [`macro@tool`], which `mcp-revisions` exports with feature `macros`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::{Attribute, Error, Expr, FnArg, ItemFn, Lit, LitBool, LitStr, Meta, Result, Token};

/// Makes a tool of a function, with a name, a description and hints, for `Router::add`.
///
/// The function stays as it is. Its doc comment is the description, and its name that of the tool; a type of the same name
/// beside it has both. A function that cannot be a tool is an error at the place of the mistake.
///
/// | argument | means |
/// |---|---|
/// | `name = ".."`, `title = ".."` | the name that calls have [default: that of the function], and one for people [default: none] |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | the hint of this name, or `= false` |
#[proc_macro_attribute]
pub fn tool(
    arguments: proc_macro::TokenStream,
    function: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let function = TokenStream::from(function);
    let described = described(arguments.into(), function.clone());
    // The function stays where the attribute is wrong: the compiler tells the other mistakes as well.
    let beside = described.unwrap_or_else(Error::into_compile_error);
    quote!(#function #beside).into()
}

/// The arguments of the attribute.
#[derive(Default)]
struct ToolFacts {
    name: Option<LitStr>,
    title: Option<LitStr>,
    /// Calls that set hints.
    hints: TokenStream,
}

impl ToolFacts {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("name") {
            self.name = Some(meta.value()?.parse()?);
            return Ok(());
        }
        if meta.path.is_ident("title") {
            self.title = Some(meta.value()?.parse()?);
            return Ok(());
        }
        let hint = match meta.path.to_token_stream().to_string().as_str() {
            "read_only" => quote!(with_read_only_hint),
            "destructive" => quote!(with_destructive_hint),
            "idempotent" => quote!(with_idempotent_hint),
            "open_world" => quote!(with_open_world_hint),
            _ => {
                let expected = "expected `name`, `title`, `read_only`, `destructive`, `idempotent` or `open_world`";
                return Err(meta.error(expected));
            }
        };
        let value = if meta.input.peek(Token![=]) {
            meta.value()?.parse()?
        } else {
            LitBool::new(true, Span::call_site())
        };
        self.hints.extend(quote!(.#hint(#value)));
        Ok(())
    }
}

/// Returns the type beside a function, which adds the tool to a router. Returns an error if the function cannot be a tool, or
/// lacks a description.
fn described(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let mut facts = ToolFacts::default();
    syn::meta::parser(|meta| facts.read(&meta)).parse2(arguments)?;
    let function: ItemFn = syn::parse2(function)?;
    check(&function)?;
    let ident = &function.sig.ident;
    let description = description(&function.attrs);
    if description.is_empty() {
        let why = "a tool has a doc comment: a model chooses the tool by it";
        return Err(Error::new_spanned(ident, why));
    }
    let ToolFacts { name, title, hints } = facts;
    let called = name.unwrap_or_else(|| LitStr::new(&ident.to_string(), ident.span()));
    let titled = title.map(|title| quote!(.with_title(#title)));
    let hinted = (!hints.is_empty())
        .then(|| quote!(.with_annotations(::mcp_revisions::latest::ToolAnnotations::new() #hints)));
    let describe = (titled.is_some() || hinted.is_some())
        .then(|| quote!(.described(|tool| tool #titled #hinted)));
    let (visibility, attributes) = (&function.vis, function.attrs.iter());
    let gates: Vec<&Attribute> = attributes.filter(|it| it.path().is_ident("cfg")).collect();
    // A mistake of the types of the function is told at its name.
    let router = quote_spanned!(ident.span()=> router.tool(#called, #description, #ident));
    Ok(quote! {
        #(#gates)*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        #(#gates)*
        impl ::mcp_revisions::service::router::ToolFunction for #ident {
            fn add_to(router: ::mcp_revisions::Router) -> ::mcp_revisions::Router {
                #router #describe
            }
        }
    })
}

/// Checks for mistakes that the compiler would report at the call of `Router::tool` only, and without a cure.
fn check(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        let why = "a tool is an `async fn`: write `async` before `fn`";
        return Err(Error::new_spanned(signature.fn_token, why));
    }
    if !signature.generics.params.is_empty() {
        let why = "a tool has no type parameters or lifetimes: name the types, and let it own its arguments";
        return Err(Error::new_spanned(&signature.generics, why));
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let why = "a tool is not a method: take `State<S>`, and call the method";
                return Err(Error::new_spanned(receiver, why));
            }
            FnArg::Typed(argument) if borrows(argument.ty.to_token_stream()) => {
                let why = "a tool owns its arguments: take a struct without a lifetime, and `String` in place of `&str`";
                return Err(Error::new_spanned(&argument.ty, why));
            }
            FnArg::Typed(_) => {}
        }
    }
    Ok(())
}

/// Returns whether a type has a reference or a lifetime, other than `'static`, in it.
fn borrows(ty: TokenStream) -> bool {
    let mut tokens = ty.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => borrows(group.stream()),
            TokenTree::Punct(mark) if mark.as_char() == '\'' => {
                !matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static")
            }
            TokenTree::Punct(mark) => {
                let is_static =
                    |next: &TokenTree| matches!(next, TokenTree::Punct(it) if it.as_char() == '\'');
                mark.as_char() == '&' && !tokens.peek().is_some_and(is_static)
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// Returns the text of the doc comments.
fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else {
            return None;
        };
        match &meta.value {
            Expr::Lit(value) if meta.path.is_ident("doc") => match &value.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn a_function_that_cannot_be_a_tool_is_told_the_cure() {
        for (arguments, function, cure) in [
            ("", "/** A */ fn f() -> String { todo!() }", "write `async`"),
            (
                "",
                "/** A */ async fn f(a: A<'_>) {}",
                "a struct without a lifetime",
            ),
            (
                "",
                "/** A */ async fn f(a: &str) {}",
                "`String` in place of `&str`",
            ),
            (
                "",
                "/** A */ async fn f(a: (u8, Option<&'_ str>)) {}",
                "`String` in place of `&str`",
            ),
            ("", "/** A */ async fn f<T>(a: T) {}", "name the types"),
            ("", "/** A */ async fn f(&self) {}", "take `State<S>`"),
            ("", "async fn f() {}", "a doc comment"),
            ("readonly", "/** A */ async fn f() {}", "`read_only`"),
            ("name = 1", "/** A */ async fn f() {}", "string literal"),
        ] {
            let found = described(arguments.parse().unwrap(), function.parse().unwrap());
            let error = found.unwrap_err().to_string();
            assert!(error.contains(cure), "{function}: {error}");
        }
    }

    #[test]
    fn the_doc_comment_is_the_description_and_hints_are_set() {
        let function = "/// Adds.\n///\n/// Twice.\n#[cfg(unix)]\npub async fn add(a: A, b: State<&'static str>) {}";
        let arguments = r#"name = "plus", title = "Plus", read_only, open_world = false"#;
        let found = described(arguments.parse().unwrap(), function.parse().unwrap());
        let text = found.unwrap().to_string();
        for part in [
            r#"router . tool ("plus" , "Adds.\n\nTwice." , add)"#,
            r#"with_title ("Plus")"#,
            "with_read_only_hint (true)",
            "with_open_world_hint (false)",
            "# [cfg (unix)]",
            "pub enum add",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
