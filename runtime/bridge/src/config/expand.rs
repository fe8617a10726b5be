//! Expands references in the values of a host's file: `${VARIABLE}`, `${VARIABLE:-default}`, and the words of editors for folders.
//!
//! Other text, such as `${x%/}` of a shell script, stays as it is; `$${` is `${` itself.

use std::collections::BTreeSet;
use std::path::Path;

use mcp_wire::{EXCERPT, excerpt};

/// The environment of the process, or that of a test.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// The values of references. It holds the names of the variables that they name.
pub(super) struct References<'e> {
    pub(super) environment: Environment<'e>,
    /// The folder that the file belongs to.
    pub(super) workspace: &'e Path,
    pub(super) named: BTreeSet<String>,
}

/// A reference, without its braces.
enum Reference<'t> {
    Variable(&'t str, Option<&'t str>),
    /// A value that VS Code asks its user for.
    Input(&'t str),
    /// A word of an editor, and its value.
    Word(String),
    /// A word of an editor without a value outside of it.
    Editor(&'t str),
}

impl References<'_> {
    /// Replaces the references in a text by their values. Returns the reference that has no value, with help.
    pub(super) fn expand(&mut self, text: &str) -> Result<String, String> {
        let (mut whole, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            if let Some(literal) = before.strip_suffix('$') {
                whole.push_str(literal);
                whole.push_str("${");
                rest = &from[2..];
                continue;
            }
            whole.push_str(before);
            let inner = &from[2..];
            let Some(end) = closing(inner) else {
                if let Some((name, _)) = inner.split_once(":-").filter(|it| is_name(it.0)) {
                    return Err(format!("`${{{name}:-` without `}}`"));
                }
                whole.push_str("${");
                rest = inner;
                continue;
            };
            rest = &inner[end + 1..];
            match self.reference(&inner[..end]) {
                Some(reference) => whole.push_str(&self.value(reference)?),
                None => whole.push_str(&from[..end + 3]),
            }
        }
        whole.push_str(rest);
        Ok(whole)
    }

    /// Returns the reference between braces, if it is one.
    fn reference<'t>(&self, inner: &'t str) -> Option<Reference<'t>> {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let variable = name.strip_prefix("env:").unwrap_or(name);
        let folder = |path: &Path| Reference::Word(path.to_string_lossy().into_owned());
        match name {
            "workspaceFolder" => Some(folder(self.workspace)),
            "workspaceFolderBasename" => {
                let base = self.workspace.file_name().unwrap_or_default();
                Some(folder(base.as_ref()))
            }
            "pathSeparator" | "/" => Some(Reference::Word(std::path::MAIN_SEPARATOR.to_string())),
            "userHome" => Some(Reference::Variable(
                if cfg!(windows) { "USERPROFILE" } else { "HOME" },
                None,
            )),
            _ if name.starts_with("input:") => name.strip_prefix("input:").map(Reference::Input),
            _ if name.starts_with("command:") || name.starts_with("config:") => {
                Some(Reference::Editor(name))
            }
            _ => is_name(variable).then_some(Reference::Variable(variable, default)),
        }
    }

    fn value(&mut self, reference: Reference<'_>) -> Result<String, String> {
        match reference {
            Reference::Word(text) => Ok(text),
            Reference::Editor(name) => Err(format!(
                "`${{{}}}` has no value outside of its editor: write the value, or `${{VARIABLE}}`",
                excerpt(name, EXCERPT)
            )),
            Reference::Input(id) => {
                let variable = input_variable(id);
                self.variable(&variable).ok_or_else(|| {
                    let id = excerpt(id, EXCERPT);
                    format!("`${{input:{id}}}` is not asked for here: set environment variable `{variable}`")
                })
            }
            Reference::Variable(name, default) => {
                let value = self.variable(name);
                match (value, default) {
                    (Some(value), Some(_)) if !value.is_empty() => Ok(value),
                    (_, Some(default)) => self.expand(default),
                    (Some(value), None) => Ok(value),
                    (None, None) => Err(format!(
                        "environment variable `{name}` is not set: set it, or write `${{{name}:-default}}`, or `$${{{name}}}` for the text itself"
                    )),
                }
            }
        }
    }

    /// Returns the value of a variable, and adds it to the named ones.
    pub(super) fn variable(&mut self, name: &str) -> Option<String> {
        self.named.insert(name.to_owned());
        (self.environment)(name)
    }
}

/// Returns the variable that has the value of an input: `INPUT_`, and its id in capital letters.
fn input_variable(id: &str) -> String {
    let plain = id.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    });
    "INPUT_".chars().chain(plain).collect()
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_part)
}

/// Returns the place of the brace that closes the one before a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn references_are_replaced_and_all_other_text_stays() {
        let environment = |name: &str| match name {
            "HOME" => Some("/h".to_owned()),
            "EMPTY" => Some(String::new()),
            "INPUT_API_KEY" => Some("k".to_owned()),
            // A value is not a text of the file.
            "NESTED" => Some("${HOME}".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("${HOME}/d", Ok("/h/d")),
            ("${env:HOME}${HOME}", Ok("/h/h")),
            ("${DIR:-${HOME}/d}/e", Ok("/h/d/e")),
            ("${HOME:-${UNSET}}", Ok("/h")),
            ("${A:-${B:-${C:-c}}}", Ok("c")),
            (r#"${A:-{"a":{}}}"#, Ok(r#"{"a":{}}"#)),
            ("${EMPTY:-e}${EMPTY}${A:-}", Ok("e")),
            ("${NESTED}", Ok("${HOME}")),
            ("$${HOME} $$ $HOME", Ok("${HOME} $$ $HOME")),
            (
                "${x%/} ${x##*/} ${#x} ${} ${a b} ${1}",
                Ok("${x%/} ${x##*/} ${#x} ${} ${a b} ${1}"),
            ),
            ("${x%${suffix}}", Ok("${x%${suffix}}")),
            ("a } b { ${", Ok("a } b { ${")),
            (
                "${workspaceFolder}/x ${workspaceFolderBasename}",
                Ok("/work space/x work space"),
            ),
            ("${userHome}", Ok("/h")),
            ("${input:api-key}", Ok("k")),
            ("${input:other}", Err("INPUT_OTHER")),
            ("${config:python.path}", Err("config:python.path")),
            ("${UNSET}", Err("`UNSET` is not set")),
            ("${A:-${UNSET}}", Err("`UNSET` is not set")),
            ("${A:-/srv/${x", Err("`${A:-` without `}`")),
        ] {
            let mut references = References {
                environment: &environment,
                workspace: Path::new("/work space"),
                named: BTreeSet::new(),
            };
            match (references.expand(text), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
