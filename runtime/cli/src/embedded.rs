//! The spec that the program carries: the schemas of every revision and the decisions about them.

use mcp_revisions_schema::{Error, Spec};

/// The files of spec/, by their path in it.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/spec_files.rs"));

/// All of it. Fails as [`Spec::from_files`].
pub(crate) fn spec() -> Result<Spec, Error> {
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    Spec::from_files(FILES.iter().map(own).collect())
}
