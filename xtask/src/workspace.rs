//! The workspace that a command works in: that of the working directory, as with cargo.

use std::path::{Path, PathBuf};

use mcp_revisions_schema::Error;

/// Returns the root of the workspace that the command runs in. Fails for a working directory outside of any, and one in another
/// workspace than the one whose program cargo runs.
pub(crate) fn root() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(|cause| Error::io("read", Path::new("."), cause))?;
    let own = here.ancestors().find(|folder| is_root(folder));
    // `cargo run` says which package it runs, wherever that is.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let of_cargo = package
        .as_deref()
        .and_then(Path::parent)
        .filter(|folder| is_root(folder));
    match (own, of_cargo) {
        (Some(own), Some(other)) if !is_same(own, other) => Err(Error::usage(
            format!(
                "the working directory is in the workspace {}, and cargo runs that of {}",
                own.display(),
                other.display()
            ),
            "run the command in the workspace that it is to work in, with `cargo xtask`",
        )),
        (Some(root), _) | (None, Some(root)) => Ok(root.to_owned()),
        (None, None) => Err(Error::usage(
            format!(
                "{} is in no workspace of this project; the program was built in {}",
                here.display(),
                env!("CARGO_MANIFEST_DIR")
            ),
            "run the command in the workspace that it is to work in, with `cargo xtask`",
        )),
    }
}

/// Returns spec/ of that workspace, as seen from the working directory where that is shorter. Fails as [`root`].
pub(crate) fn spec_dir() -> Result<PathBuf, Error> {
    let dir = root()?.join("spec");
    let here = std::env::current_dir().ok();
    let relative = here
        .and_then(|here| dir.strip_prefix(here).map(Path::to_owned).ok())
        .filter(|relative| !relative.as_os_str().is_empty());
    Ok(relative.unwrap_or(dir))
}

/// Returns whether a folder is the root of a workspace that has these commands.
fn is_root(folder: &Path) -> bool {
    folder.join("xtask/Cargo.toml").is_file()
}

/// Returns whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    one == other || whole(one) == whole(other)
}
