//! What the README shows of `cargo xtask diff` and `explain` is what they say.

use std::path::Path;
use std::process::Command;

/// A command as it stands behind a prompt, and the lines below it.
struct Shown {
    command: String,
    lines: Vec<String>,
}

/// What stands in blocks of a console.
fn shown(text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(kind) => is_console = kind == "console",
            None if !is_console => {}
            None => match (line.strip_prefix("$ "), shown.last_mut()) {
                (Some(command), _) => shown.push(Shown {
                    command: command.to_owned(),
                    lines: Vec::new(),
                }),
                (None, Some(of)) => of.lines.push(line.to_owned()),
                (None, None) => panic!("a block begins with a command: {line}"),
            },
        }
    }
    shown
}

/// What a command prints, if it needs no file but what is here: with what stands behind its pipe.
fn printed(command: &str) -> Option<Vec<String>> {
    let arguments = command.strip_prefix("cargo xtask ")?;
    let (arguments, tail) = match arguments.split_once(" | tail -") {
        Some((arguments, tail)) => (arguments, tail.parse().unwrap()),
        None => (arguments, usize::MAX),
    };
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let needs_file = arguments.iter().any(|word| word.ends_with(".json"));
    if !matches!(arguments[0], "diff" | "explain") || needs_file {
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(&arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    Some(lines[lines.len().saturating_sub(tail)..].to_vec())
}

#[test]
fn what_the_readme_shows_is_what_is_printed() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let mut compared = 0;
    for Shown { command, mut lines } in shown(&readme) {
        let Some(mut printed) = printed(&command) else {
            continue;
        };
        if lines.last().is_some_and(|line| line == "...") {
            lines.pop();
            printed.truncate(lines.len());
        }
        let (lines, printed) = (lines.join("\n"), printed.join("\n"));
        assert_eq!(lines.trim_end(), printed.trim_end(), "$ {command}");
        compared += 1;
    }
    assert!(compared >= 3, "the README shows {compared} of them");
}
