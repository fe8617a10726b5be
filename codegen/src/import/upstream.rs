//! An upstream schema.json: read, digested and brought into canonical form.

use std::fs;
use std::path::Path;

use mcp_revisions_schema::spec::sha256;
use serde_json::Value;

use mcp_revisions_schema::Error;
use mcp_revisions_schema::spec::canonical;

/// The schema of a revision as upstream publishes it.
#[derive(Clone, Debug)]
pub struct UpstreamFile {
    pub(super) canonical: Value,
    pub(super) sha256: String,
}

impl UpstreamFile {
    /// Reads a file. Fails for a file that cannot be read, or is not a schema.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(file).map_err(|cause| Error::io("read", file, cause))?;
        Self::of_text(&file.display().to_string(), &text)
    }

    /// Reads a text under the name that errors print. Fails for a text that is not a schema.
    pub fn of_text(name: &str, text: &str) -> Result<Self, Error> {
        Ok(Self {
            canonical: canonical::of_text(name, text)?,
            sha256: sha256(text.as_bytes()),
        })
    }

    /// Reads the schema of an extension, whose references may lead nowhere: an erratum mends them after the import. Fails as
    /// [`UpstreamFile::read`].
    pub fn read_extension(file: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(file).map_err(|cause| Error::io("read", file, cause))?;
        Self::of_extension_text(&file.display().to_string(), &text)
    }

    /// Reads the text of such a schema under the name that errors print. Fails for a text that is not a schema.
    pub fn of_extension_text(name: &str, text: &str) -> Result<Self, Error> {
        Ok(Self {
            canonical: canonical::of_text_with_dangling(name, text)?,
            sha256: sha256(text.as_bytes()),
        })
    }

    /// Returns whether it has a definition of that name.
    pub fn defines(&self, name: &str) -> bool {
        canonical::definition(&self.canonical, name).is_some()
    }
}
