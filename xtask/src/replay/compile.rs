//! A workspace aside, in which the crates of a draft are compiled.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use mcp_codegen::generate::Generated;
use mcp_revisions_schema::Error;

use crate::process::cargo;
use crate::workspace::root;

/// The hand-written crates that generated ones depend on.
const RUNTIME: [&str; 3] = ["convert", "hooks", "wire"];

/// A folder with a workspace; gone when this is dropped.
pub(super) struct Workshop {
    dir: PathBuf,
}

impl Workshop {
    pub(super) fn set_up() -> anyhow::Result<Self> {
        let name = format!("mcp-replay-{}", std::process::id());
        let workshop = Self {
            dir: std::env::temp_dir().join(name),
        };
        let root = root()?;
        let manifest =
            fs::read_to_string(root.join("Cargo.toml")).context("cannot read Cargo.toml")?;
        let mut manifest: toml_edit::DocumentMut =
            manifest.parse().context("cannot read Cargo.toml")?;
        let members = ["generated/*".to_owned()]
            .into_iter()
            .chain(RUNTIME.map(|name| format!("runtime/{name}")));
        manifest["workspace"]["members"] = toml_edit::value(members.collect::<toml_edit::Array>());
        workshop.write("Cargo.toml", &manifest.to_string())?;
        let lock = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
        workshop.write("Cargo.lock", &lock)?;
        for name in RUNTIME {
            copy(
                &root.join("runtime").join(name),
                &workshop.dir.join("runtime").join(name),
            )?;
        }
        Ok(workshop)
    }

    /// Compiles the crates of a step. The error is what cargo says where it refuses.
    pub(super) fn compile(&self, generated: &Generated) -> Result<(), Error> {
        generated.files.write(&self.dir)?;
        let output = cargo("check")
            .args(["--quiet", "--offline", "--workspace"])
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", self.dir.join("target"))
            .output()
            .map_err(|cause| Error::io("run cargo in", &self.dir, cause))?;
        if output.status.success() {
            Ok(())
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Error::defect("cargo check", said.trim_end()))
        }
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        mcp_codegen::files::write_file(&self.dir.join(name), text.as_bytes())?;
        Ok(())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Copies a folder, without what cargo made in it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot copy {}", from.display());
    fs::create_dir_all(to).with_context(failed)?;
    for listed in fs::read_dir(from).with_context(failed)? {
        let entry = listed.with_context(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "target" {
                copy(&path, &to.join(name))?;
            }
        } else {
            fs::copy(&path, to.join(name)).with_context(failed)?;
        }
    }
    Ok(())
}
