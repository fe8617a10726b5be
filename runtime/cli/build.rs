//! Lists the files of spec/, so that the program carries them and needs no checkout.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // A link in a checkout, a folder in a package; and where links are not kept, the text of one.
    let linked = package.join("spec");
    let spec = if linked.is_dir() {
        linked
    } else {
        package.join("../../spec")
    };
    println!("cargo:rerun-if-changed={}", spec.display());
    let mut files = Vec::new();
    collect(&spec, "", &mut files)?;
    files.sort();
    let mut list = "&[\n".to_owned();
    for (name, path) in &files {
        let absolute = path.canonicalize()?;
        let _ = writeln!(list, "    ({name:?}, include_str!({absolute:?})),");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("spec_files.rs"), list)
}

/// Schemas and rules below a folder, by their path from the root.
fn collect(dir: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else if name.ends_with(".json") || name.ends_with(".toml") {
            files.push((name, path));
        }
    }
    Ok(())
}
