//! Generated crates compiled: a workspace of their own below the target folder, with warnings denied.
//!
//! It has the lints, the edition and the lock file of the workspace that this package is in.
//! Files are written only where they differ, so that cargo compiles again only what changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_codegen::files::write_file;
use mcp_codegen::generate::Crate;
use toml::{Table, Value};

/// A workspace on disk.
pub(crate) struct Workspace {
    root: PathBuf,
    members: Vec<String>,
}

impl Workspace {
    /// An empty one; what an earlier run left there and this one does not write is nobody's member.
    pub(crate) fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        Self {
            root,
            members: Vec::new(),
        }
    }

    /// Where it lies.
    #[allow(dead_code, reason = "each test uses its part of this module")]
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Puts a generated crate into a folder.
    pub(crate) fn add(&mut self, folder: &str, generated: &Crate) {
        for (path, text) in &generated.files {
            // A crate that stands alone is a member here, and one of the checkout lies elsewhere.
            let wire = repository().join("runtime/wire").display().to_string();
            let text = text
                .replace("\n[workspace]\n", "\n")
                .replace("../../runtime/wire", &wire);
            self.write(&format!("{folder}/{path}"), &text);
        }
        self.members.push(folder.to_owned());
    }

    /// Puts a crate of sources beside them that depends on these packages, by name and folder.
    #[allow(dead_code, reason = "each test uses its part of this module")]
    pub(crate) fn add_user(&mut self, folder: &str, uses: &[(String, String)], lib: &str) {
        let mut manifest = format!("[package]\nname = \"{folder}\"\nedition = \"2024\"\n\n");
        manifest.push_str("[dependencies]\nmcp-wire.workspace = true\n");
        for (package, path) in uses {
            // Drafts of extensions are there for those who ask for them.
            let features = match package.as_str() {
                "mcp-revisions-tables" if uses.iter().any(|(of, _)| of.starts_with("mcp-ext-")) => {
                    ", features = [\"extensions\"]"
                }
                _ => "",
            };
            manifest.push_str(&format!(
                "{package} = {{ path = \"../{path}\"{features} }}\n"
            ));
        }
        self.write(&format!("{folder}/Cargo.toml"), &manifest);
        self.write(&format!("{folder}/src/lib.rs"), lib);
        self.members.push(folder.to_owned());
    }

    /// Runs a command of cargo over the whole; what it said, where it failed.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<(), String> {
        self.write("Cargo.toml", &self.manifest());
        let lock = fs::read_to_string(repository().join("Cargo.lock")).unwrap();
        self.write("Cargo.lock", &lock);
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
        let mut command = Command::new(cargo);
        command
            .current_dir(&self.root)
            .args(arguments)
            .args(["--offline", "--quiet", "--target-dir"])
            .arg(target)
            .env("RUSTFLAGS", "-D warnings")
            // A panic names its file and line without them, and what is compiled once needs no parts to begin from again.
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("RUSTC_WORKSPACE_WRAPPER");
        let output = command.output().unwrap();
        if output.status.success() {
            return Ok(());
        }
        Err(format!(
            "cargo {} in {}\n{}{}",
            arguments.join(" "),
            self.root.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ))
    }

    fn manifest(&self) -> String {
        let text = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
        let mut manifest: Table = text.parse().unwrap();
        manifest.retain(|key, _| key == "workspace");
        let workspace = manifest["workspace"].as_table_mut().unwrap();
        workspace.remove("exclude");
        let members = self.members.iter().map(|name| name.as_str().into());
        workspace.insert("members".to_owned(), Value::Array(members.collect()));
        let wire = repository().join("runtime/wire").display().to_string();
        let wire = Table::from_iter([("path".to_owned(), wire.into())]);
        let dependencies = Table::from_iter([("mcp-wire".to_owned(), wire.into())]);
        workspace.insert("dependencies".to_owned(), dependencies.into());
        toml::to_string(&manifest).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            return;
        }
        write_file(&path, text.as_bytes()).unwrap();
    }
}

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
