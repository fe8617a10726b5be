//! The names of a revision or an extension in Rust and for cargo.

use crate::naming::pascal_case;

/// Returns the package: `mcp-2025-11-25`.
pub fn package(id: &str) -> String {
    format!("mcp-{id}")
}

/// Returns the library: `mcp_2025_11_25`.
pub fn library(id: &str) -> String {
    format!("mcp_{}", words(id))
}

/// Returns the package of an extension: `mcp-ext-tasks`.
pub fn extension_package(name: &str) -> String {
    package(&extension(name))
}

/// Returns the name that distinguishes an extension from a revision: `ext-tasks`, for another state than the one that
/// handlers are written in `ext-tasks-draft`.
pub fn extension(name: &str) -> String {
    format!("ext-{}", name.replace('@', "-"))
}

/// Returns the module that holds its types: `v2025_11_25`, `draft`.
pub fn module(id: &str) -> String {
    if dated(id) {
        format!("v{}", words(id))
    } else {
        words(id)
    }
}

/// Returns the feature that brings it, where it is not there anyway: `v2026-07-28-rc`.
pub fn feature(id: &str) -> String {
    module(id).replace('_', "-")
}

/// Returns the constant of its row in a table: `V2025_11_25`, `DRAFT`.
pub fn constant(id: &str) -> String {
    module(id).to_uppercase()
}

/// Returns its variant and its marker type: `V2025_11_25`, `V2026_07_28Rc`, `Draft`.
pub fn variant(id: &str) -> String {
    if !dated(id) {
        return pascal_case(id);
    }
    let number = |part: &&str| part.chars().all(|letter| letter.is_ascii_digit());
    let parts: Vec<&str> = id
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let numbers: Vec<&str> = parts.iter().copied().take_while(number).collect();
    let rest = parts.get(numbers.len()..).unwrap_or_default();
    let rest = if rest.is_empty() {
        String::new()
    } else {
        pascal_case(&rest.join("-"))
    };
    format!("V{}{rest}", numbers.join("_"))
}

fn dated(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_digit())
}

fn words(id: &str) -> String {
    id.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}
