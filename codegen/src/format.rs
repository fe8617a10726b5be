//! Tokens to text: parsed by syn, laid out by prettyplease, with a blank line between items.
//!
//! Text that does not parse is an error: it cannot be formatted.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{File, Item, ItemUse, Macro, MacroDelimiter, UseTree};

use mcp_revisions_schema::Error;

/// Returns the items of a file; `file` is named in errors.
pub(crate) fn parsed(tokens: TokenStream, file: &str) -> Result<File, Error> {
    syn::parse2(tokens).map_err(|error| {
        let problem = format!("{file}: the generated code does not parse: {error}");
        Error::defect("syn", problem)
    })
}

/// Returns the text of a file; `file` is named in errors.
pub(crate) fn rust(tokens: TokenStream, file: &str) -> Result<String, Error> {
    Ok(text(parsed(tokens, file)?))
}

/// Returns the text of a file of which the body is parsed, with what stands before it.
pub(crate) fn below(head: TokenStream, body: File, file: &str) -> Result<String, Error> {
    let mut whole = parsed(head, file)?;
    whole.items.extend(body.items);
    Ok(text(whole))
}

fn text(mut parsed: File) -> String {
    let items = std::mem::take(&mut parsed.items);
    let mut text = prettyplease::unparse(&parsed);
    // Each item is laid out as a file of one.
    parsed.attrs.clear();
    for item in items {
        let close = match (parsed.items.pop(), &item) {
            (Some(Item::Mod(_)), Item::Mod(_)) => true,
            (Some(Item::Use(_)), Item::Use(next)) => !is_local(next),
            _ => false,
        };
        if !text.is_empty() && !close {
            text.push('\n');
        }
        parsed.items.push(item);
        text.push_str(&match &parsed.items[0] {
            Item::Impl(_) | Item::Trait(_) => spaced(&prettyplease::unparse(&parsed)),
            Item::Macro(item) if matches!(item.mac.delimiter, MacroDelimiter::Brace(_)) => {
                table(&item.mac)
            }
            _ => prettyplease::unparse(&parsed),
        });
    }
    text
}

/// Returns the text of a macro with braces, which is a table: each line stands by itself, where prettyplease would fill the lines.
fn table(table: &Macro) -> String {
    let path = line(table.path.to_token_stream());
    let mut text = format!("{path}! {{\n");
    for head in lines(table.tokens.clone()) {
        // Within braces there is a table, too.
        let last = head.clone().into_iter().last();
        match last {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let count = head.clone().into_iter().count() - 1;
                let name = line(head.into_iter().take(count).collect());
                let inner: String = lines(group.stream())
                    .into_iter()
                    .map(|one| format!("        {}\n", line(one)))
                    .collect();
                if inner.is_empty() {
                    text.push_str(&format!("    {name} {{}}\n"))
                } else {
                    text.push_str(&format!("    {name} {{\n{inner}    }}\n"))
                }
            }
            _ => text.push_str(&format!("    {}\n", line(head))),
        }
    }
    text.push_str("}\n");
    text
}

/// Returns the lines of a table: each ends with its semicolon, and the last one may have none.
fn lines(tokens: TokenStream) -> Vec<TokenStream> {
    let mut lines = vec![TokenStream::new()];
    for token in tokens {
        let ends = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ';');
        if let Some(line) = lines.last_mut() {
            line.extend([token]);
        }
        if ends {
            lines.push(TokenStream::new());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns a line as a person would space it.
pub(crate) fn line(tokens: TokenStream) -> String {
    let mut text = String::new();
    // Whether the token before wants none after it, and whether it is a name that brackets may follow.
    let (mut tight, mut name) = (true, false);
    for token in tokens {
        let (piece, before, after) = match &token {
            TokenTree::Punct(mark) => match mark.as_char() {
                ',' | ';' => (mark.to_string(), true, false),
                ':' => (
                    mark.to_string(),
                    true,
                    text.ends_with(':') || mark.spacing() == Spacing::Joint,
                ),
                '<' => (mark.to_string(), true, true),
                '>' => (mark.to_string(), true, false),
                '&' | '-' => (mark.to_string(), false, true),
                _ => (mark.to_string(), false, mark.spacing() == Spacing::Joint),
            },
            TokenTree::Group(group) => {
                let inner = line(group.stream());
                match group.delimiter() {
                    Delimiter::Brace => (format!("{{ {inner} }}"), false, false),
                    Delimiter::Bracket => (format!("[{inner}]"), false, false),
                    Delimiter::Parenthesis | Delimiter::None => (format!("({inner})"), name, false),
                }
            }
            token => (token.to_string(), false, false),
        };
        if !before && !tight && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&piece);
        tight = after;
        name = matches!(token, TokenTree::Ident(_));
    }
    text
}

/// Returns whether an import is from the crate itself.
fn is_local(item: &ItemUse) -> bool {
    matches!(&item.tree, UseTree::Path(path) if path.ident == "crate" || path.ident == "super")
}

/// Puts a blank line between the functions of an `impl`.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut after_function = false;
    for line in text.lines() {
        if after_function && line != "}" && !line.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        after_function = line == "    }";
    }
    out
}
