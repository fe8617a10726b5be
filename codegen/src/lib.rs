//! From the models of all revisions to Rust: types, conversions between adjacent revisions, and one table of all.
//!
//! A pure library: no clock, no network, no environment. What the input says is read by [`mcp_revisions_schema`].

/// The templates of `codegen/templates`, each with the path of the file that it makes.
macro_rules! templates {
    ($($path:literal: $template:literal),+ $(,)?) => {
        &[$((
            $path,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $template, ".jinja")),
        )),+]
    };
}

pub mod emit;
mod format;
pub mod generate;
pub mod registry;
pub mod replay;
pub mod shims;
pub mod surface;

pub use generate::generate;
