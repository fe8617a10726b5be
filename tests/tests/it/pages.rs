//! The Markdown pages: every Rust block is compiled, every block says what it is, every relative link leads somewhere.

use std::path::{Path, PathBuf};

/// A block of code: the line that opens it, its number, and the lines in it.
struct Block<'p> {
    line: usize,
    kind: &'p str,
    lines: Vec<&'p str>,
}

#[test]
fn every_page_with_a_rust_block_is_compiled() {
    let root = mcp_tests::root();
    let compiled = std::fs::read_to_string(root.join("tests/src/pages.rs")).unwrap();
    let mut faults = Vec::new();
    for (page, text) in pages(&root) {
        let place = page.strip_prefix(&root).unwrap().display().to_string();
        let mut has_rust = false;
        for Block { line, kind, lines } in blocks(&text) {
            let mut fault = |what: &str| faults.push(format!("{place}:{line}: {what}"));
            if kind.is_empty() {
                fault("a block that does not say its language is taken for Rust: write ```text");
            }
            if kind.split(',').next() != Some("rust") {
                continue;
            }
            has_rust = true;
            if !matches!(kind, "rust" | "rust,no_run") {
                fault("a block of Rust is `rust` or `rust,no_run`, so that it is compiled");
            }
            if lines
                .iter()
                .any(|line| *line == "#" || line.starts_with("# "))
            {
                fault(
                    "a line that begins with `#` is hidden in rustdoc, and shown everywhere else",
                );
            }
        }
        if has_rust && !compiled.contains(&format!("\"../../{place}\"")) {
            faults.push(format!("{place}: add the page to tests/src/pages.rs"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let root = mcp_tests::root();
    let mut faults = Vec::new();
    for (page, text) in pages(&root) {
        let mut is_code = false;
        for (at, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            if is_code {
                continue;
            }
            for link in line.split("](").skip(1) {
                let link = link.split(')').next().unwrap();
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                if file.contains("://") {
                    continue;
                }
                let target = match file {
                    "" => page.clone(),
                    file => page.parent().unwrap().join(file),
                };
                let leads = match heading {
                    "" => target.exists(),
                    heading => headings(&target).iter().any(|one| one == heading),
                };
                if !leads {
                    let place = page.strip_prefix(&root).unwrap().display();
                    faults.push(format!("{place}:{}: there is no {link}", at + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_guide_is_in_the_summary() {
    let docs = mcp_tests::root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for entry in std::fs::read_dir(&docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(
                summary.contains(&format!("({name})")),
                "docs/SUMMARY.md does not list {name}"
            );
        }
    }
}

#[test]
fn the_readme_shows_the_examples_as_they_are() {
    let root = mcp_tests::root();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    for example in ["server.rs", "client.rs"] {
        let text = std::fs::read_to_string(root.join("runtime/examples").join(example)).unwrap();
        let (_, program) = text.split_once("\n\n").unwrap();
        assert!(
            readme.contains(program),
            "README.md does not show runtime/examples/{example} below its first line"
        );
    }
}

/// A feature that a guide names is there: in `features = [..]`, and in the first column of a table of features.
#[test]
fn a_feature_of_a_guide_is_one_of_the_manifest() {
    let root = mcp_tests::root();
    let manifest = std::fs::read_to_string(root.join("runtime/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let known = manifest["features"].as_table().unwrap();
    let mut count = 0;
    for (path, page) in pages(&root) {
        let mut in_table = false;
        for line in page.lines() {
            in_table = line.starts_with("| feature |") || (in_table && line.starts_with('|'));
            let of_manifest = line.starts_with("mcp-revisions = {");
            let named: Vec<&str> = match line.split_once("features = [") {
                Some((_, list)) if of_manifest => list.split('"').skip(1).step_by(2).collect(),
                _ if in_table => {
                    let cell = line.split('|').nth(1).unwrap_or_default();
                    cell.split('`').skip(1).step_by(2).collect()
                }
                _ => continue,
            };
            for feature in named {
                count += 1;
                assert!(
                    known.contains_key(feature),
                    "{}: mcp-revisions has no feature `{feature}`",
                    path.display()
                );
            }
        }
    }
    assert!(count > 20, "{count} features");
}

#[test]
fn the_guide_has_every_limit() {
    let root = mcp_tests::root();
    let guide = std::fs::read_to_string(root.join("docs/deploy.md")).unwrap();
    let limits = std::fs::read_to_string(root.join("runtime/sansio/src/limits.rs")).unwrap();
    let (_, limits) = limits.split_once("pub struct Limits {").unwrap();
    let (limits, _) = limits.split_once("\n}").unwrap();
    let fields = limits
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub "));
    let mut count = 0;
    for field in fields.map(|field| field.split(':').next().unwrap()) {
        assert!(
            guide.contains(&format!("`{field}`")),
            "docs/deploy.md does not have `{field}`"
        );
        count += 1;
    }
    assert!(count > 10, "{count} limits");
}

/// The headings of a page, as links name them.
fn headings(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| -> String {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    lines.map(name).collect()
}

/// The Markdown pages of the checkout, without those of build folders and of other workspaces.
pub(crate) fn pages(root: &Path) -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !path.is_symlink() {
                if !name.starts_with('.') && !matches!(name, "target" | "node_modules") {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path, text));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 10, "{} pages", pages.len());
    pages
}

/// The blocks of code of a page.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for (at, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), is_open) {
            (Some(kind), false) => {
                blocks.push(Block {
                    line: at + 1,
                    kind,
                    lines: Vec::new(),
                });
                is_open = true;
            }
            (Some(_), true) => is_open = false,
            (None, true) => blocks.last_mut().unwrap().lines.push(line),
            (None, false) => {}
        }
    }
    blocks
}
