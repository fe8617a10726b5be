//! The schema of a new revision, as it comes from elsewhere: taken into a copy of `spec/`, or refused and nothing changed.

use std::sync::OnceLock;

use mcp_codegen::import::{ImportOptions, SpecDirectory, UpstreamFile};
use mcp_revisions_schema::RevisionStage;
use mcp_revisions_schema::spec::revisions::Lifecycle;

use super::{Signature, Target, digest, kind_of};

pub(super) const IMPORT: Target = Target {
    name: "import",
    corpus: super::diff::schemas,
    run,
};

/// The id of the new revision.
const NEW: &str = "2099-01-01";

fn run(input: &[u8]) -> Result<Signature, String> {
    static SPEC: OnceLock<SpecDirectory> = OnceLock::new();
    let spec = SPEC.get_or_init(|| {
        let spec = SpecDirectory::read(&mcp_tests::root().join("spec"));
        spec.unwrap_or_else(|error| unreachable!("spec/ is read by each build: {error}"))
    });
    let upstream = match UpstreamFile::of_text("schema.json", &String::from_utf8_lossy(input)) {
        Ok(upstream) => upstream,
        Err(error) => return Ok(kind_of(&error.to_string())),
    };
    let options = ImportOptions {
        revision: NEW.to_owned(),
        lifecycle: Some(Lifecycle::PerRequest),
        status: Some(RevisionStage::Released),
        ..ImportOptions::default()
    };
    let mut directory = spec.clone();
    match directory.import(&upstream, &options) {
        Err(error) => {
            if directory.files() != spec.files() {
                return Err(format!("a refused schema has changed spec/: {error}"));
            }
            Ok(kind_of(&error.to_string()))
        }
        Ok(imported) => {
            let written = (directory.files().iter()).filter(|(name, _)| name.contains(NEW));
            let schemas: Vec<_> = written
                .filter(|(name, _)| name.ends_with("schema.json"))
                .collect();
            let [(name, text)] = schemas[..] else {
                return Err(format!("{} schemas were written", schemas.len()));
            };
            let again = UpstreamFile::of_text(name, text);
            let again = again.map_err(|error| format!("what was written is refused: {error}"))?;
            let mut twice = directory.clone();
            let repeated = twice.import(&again, &options);
            if repeated.is_ok_and(|it| it.schema_changed) {
                return Err("what was written is another schema when it is read again".to_owned());
            }
            Ok(digest(
                format!("{} {}", imported.definitions, imported.left.len()).as_bytes(),
            ))
        }
    }
}
