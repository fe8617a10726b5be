//! Tokens to text: parsed by syn, laid out by prettyplease, with a blank line between items.
//!
//! What does not parse is an error: output that nobody could format nobody can read.

use proc_macro2::{TokenStream, TokenTree};
use syn::{File, Item, ItemUse, Macro, UseTree};

use mcp_schema::Error;

/// The items of a file; `file` is named in errors.
pub(crate) fn parsed(tokens: TokenStream, file: &str) -> Result<File, Error> {
    syn::parse2(tokens).map_err(|error| Error::Emit {
        step: "syn",
        problem: format!("{file}: the generated code does not parse: {error}").into(),
    })
}

/// The text of a file; `file` is named in errors.
pub(crate) fn rust(tokens: TokenStream, file: &str) -> Result<String, Error> {
    Ok(text(&parsed(tokens, file)?))
}

/// The text of a file of which the body is parsed, with what stands before it.
pub(crate) fn below(head: TokenStream, body: File, file: &str) -> Result<String, Error> {
    let mut whole = parsed(head, file)?;
    whole.items.extend(body.items);
    Ok(text(&whole))
}

fn text(parsed: &File) -> String {
    let head = prettyplease::unparse(&File {
        shebang: None,
        frontmatter: None,
        attrs: parsed.attrs.clone(),
        items: Vec::new(),
    });
    let mut text = head;
    let mut previous: Option<&Item> = None;
    for item in &parsed.items {
        let close = match (previous, item) {
            (Some(Item::Mod(_)), Item::Mod(_)) => true,
            (Some(Item::Use(_)), Item::Use(next)) => !is_local(next),
            _ => false,
        };
        if !text.is_empty() && !close {
            text.push('\n');
        }
        let one = File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items: vec![item.clone()],
        };
        text.push_str(&match item {
            Item::Impl(_) | Item::Trait(_) => spaced(&prettyplease::unparse(&one)),
            Item::Macro(table)
                if table
                    .mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "record") =>
            {
                record(&table.mac)
            }
            _ => prettyplease::unparse(&one),
        });
        previous = Some(item);
    }
    text
}

/// A table of members, each on a line of its own: prettyplease fills lines with what is within a macro.
fn record(table: &Macro) -> String {
    let path: Vec<String> = (table.path.segments.iter())
        .map(|segment| segment.ident.to_string())
        .collect();
    let mut text = format!("{}! {{\n    ", path.join("::"));
    for token in table.tokens.clone() {
        match token {
            TokenTree::Group(lines) => {
                text.push_str("{\n        ");
                text.push_str(&lines_of(lines.stream()).join("\n        "));
                text.push_str("\n    }\n");
            }
            token => text.push_str(&format!("{token} ")),
        }
    }
    text.push_str("}\n");
    text.replace("{\n        \n    }", "{}")
}

fn lines_of(tokens: TokenStream) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                lines.push(format!("{line};"));
                line.clear();
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => line.push(':'),
            TokenTree::Group(value) => line.push_str(&format!("({})", value.stream())),
            token => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&token.to_string());
            }
        }
    }
    lines
}

/// Whether an import is from the crate itself.
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
