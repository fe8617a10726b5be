//! From the models of all revisions to Rust: types, conversions between adjacent revisions, and one table of all.
//!
//! No clock, no network, no environment. What the input says is read by [`mcp_revisions_schema`]; the disk is written in
//! [`import::SpecDirectory::write`] and [`files::FileSet::write`].

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
pub mod files;
mod format;
pub mod generate;
pub mod import;
pub mod registry;
pub mod replay;
pub mod shims;
pub mod surface;

pub use generate::generate;
