//! What `cargo xtask shims OLD..NEW` prints: the rules of a pair, what each costs and why, where it applies, an example.
//!
//! `BLESS=1 cargo test -p xtask --test it shims` writes what is expected; read the difference before you commit it.

use std::path::Path;
use std::process::Command;

#[test]
fn the_rules_of_a_pair_are_told_with_the_places_where_they_apply() {
    for pair in ["2024-11-05..2025-03-26", "2025-11-25..tasks"] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["shims", pair])
            .output()
            .unwrap();
        assert!(output.status.success(), "{pair}");
        let told = String::from_utf8(output.stdout).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/shims/{pair}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &told).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        let help = "run with BLESS=1 to write it, and read the difference";
        assert_eq!(told, expected, "{}: {help}", file.display());
    }
}
