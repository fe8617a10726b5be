//! Tokens to text: parsed by syn, laid out by prettyplease, with a blank line between items.
//!
//! What does not parse is an error: output that nobody could format nobody can read.

use proc_macro2::TokenStream;
use syn::{File, Item, ItemUse, UseTree};

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
        let laid_out = prettyplease::unparse(&one);
        text.push_str(&match item {
            Item::Impl(_) | Item::Trait(_) => spaced(&laid_out),
            _ => laid_out,
        });
        previous = Some(item);
    }
    text
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
