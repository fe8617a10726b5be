//! The command line of `cargo xtask generate`, on folders of users.

use std::path::Path;
use std::process::Command;

/// Makes a crate from the schema of the draft in a folder, and returns the error if there is one.
fn generated(out: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["generate", "--schema"])
        .arg(root.join("spec/draft/schema.json"))
        .arg("--out")
        .arg(out)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

/// What is below `src` and not of the crate is deleted, so that no type of an earlier schema remains.
#[test]
fn a_crate_is_made_in_a_new_folder_and_never_over_files_of_a_user() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtask-generate");
    let _ = std::fs::remove_dir_all(&out);
    for (name, text) in [
        ("src/main.rs", "fn main() {}"),
        ("Cargo.toml", "[workspace]"),
        ("README.md", "# Mine"),
    ] {
        let file = out.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let said = generated(&out).unwrap_err();
        let part = name.split('/').next().unwrap();
        let problem = format!(
            "`{}` has a `{part}` that no generation wrote",
            out.display()
        );
        assert!(said.contains(&problem), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        std::fs::remove_dir_all(&out).unwrap();
    }
    generated(&out).unwrap();
    let orphan = out.join("src/orphan.rs");
    std::fs::write(&orphan, "").unwrap();
    generated(&out).unwrap();
    assert!(!orphan.exists() && out.join("src/lib.rs").exists());
}
