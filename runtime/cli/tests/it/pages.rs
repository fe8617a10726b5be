//! What README.md and the guides show of `mcp-rev` is what it prints.
//!
//! In a `console` block, each line that begins with `$ ` is a command, and what follows is its output: standard output,
//! then standard error. A line `...` stands for any number of lines. Commands run in `docs/files`.
//! `BLESS=1` writes what is printed into the pages, up to a `...` as many lines as there were.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Subcommands that print the same on every machine and in every run.
const COMPARED: [&str; 6] = ["check", "convert", "diff", "explain", "list", "transcript"];

#[test]
fn what_the_pages_show_is_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("runtime/cli/README.md")];
    let guides = std::fs::read_dir(root.join("docs")).unwrap();
    pages.extend(
        guides
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "md")),
    );
    let (mut compared, mut faults) = (0, Vec::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let blessed = walk(
            &page,
            &text,
            &root.join("docs/files"),
            &mut compared,
            &mut faults,
        );
        if std::env::var_os("BLESS").is_some() && blessed != text {
            std::fs::write(&page, blessed).unwrap();
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(compared >= 5, "the pages show {compared} commands");
}

/// Runs the commands of a page; returns the page as it should be.
fn walk(
    page: &Path,
    text: &str,
    folder: &Path,
    compared: &mut usize,
    faults: &mut Vec<String>,
) -> String {
    let mut lines = text.lines().enumerate().peekable();
    let (mut blessed, mut is_console, mut status) = (Vec::new(), false, None);
    while let Some((at, line)) = lines.next() {
        blessed.push(line.to_owned());
        if let Some(kind) = line.strip_prefix("```") {
            is_console = kind == "console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) else {
            continue;
        };
        let mut shown = Vec::new();
        while let Some((_, line)) =
            lines.next_if(|(_, line)| !line.starts_with("$ ") && !line.starts_with("```"))
        {
            shown.push(line.to_owned());
        }
        let printed = match (command, &status) {
            ("echo $?", Some(status)) => Some(vec![String::clone(status)]),
            _ => run(command, folder).map(|(printed, code)| {
                status = Some(code);
                printed
            }),
        };
        let Some(printed) = printed else {
            status = None;
            blessed.extend(shown);
            continue;
        };
        *compared += 1;
        let should = expected(&shown, &printed);
        if !matches(&shown, &printed) && std::env::var_os("BLESS").is_none() {
            let (place, line) = (page.display(), at + 1);
            let (shown, printed) = (shown.join("\n"), should.join("\n"));
            faults.push(format!(
                "{place}:{line}: $ {command}\nshown:\n{shown}\nprinted:\n{printed}"
            ));
        }
        blessed.extend(should);
    }
    blessed.join("\n") + "\n"
}

/// What a command prints and its exit code, if it is one that is compared.
fn run(command: &str, folder: &Path) -> Option<(Vec<String>, String)> {
    let mut words = command.split(' ');
    let is_ours = words.next() == Some("mcp-rev");
    if !is_ours || !words.next().is_some_and(|name| COMPARED.contains(&name)) {
        return None;
    }
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mcp-rev"));
    let mut path = vec![program.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .output()
        .unwrap();
    let code = output.status.code().unwrap().to_string();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text += &String::from_utf8(output.stderr).unwrap();
    Some((text.lines().map(str::to_owned).collect(), code))
}

/// Whether the lines shown are those printed; `...` stands for any number of them.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((line, rest)) => {
            printed.first() == Some(line) && matches(rest, printed.get(1..).unwrap_or_default())
        }
    }
}

/// The lines to show: those shown if they hold, else those printed, as many as there were before the first `...`.
fn expected(shown: &[String], printed: &[String]) -> Vec<String> {
    if matches(shown, printed) {
        return shown.to_owned();
    }
    match shown.iter().position(|line| line == "...") {
        Some(lines) if lines < printed.len() => {
            let mut first = printed[..lines].to_vec();
            first.push("...".to_owned());
            first
        }
        _ => printed.to_owned(),
    }
}
