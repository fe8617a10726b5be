//! Texts for readers are written as `tests/words.toml` says: Markdown pages, doc comments, errors, and what programs print of
//! `spec/`.

use std::path::Path;
use std::sync::LazyLock;

use mcp_tests::root;
use regex::Regex;

use crate::pages::pages;

/// Where a text breaks a rule, and what to do.
struct Fault {
    file: String,
    line: usize,
    text: String,
    cure: String,
}

#[test]
fn texts_for_readers_keep_to_the_words_of_the_glossary() {
    let data = data();
    let faults: Vec<String> = all_faults(&data)
        .iter()
        .map(|it| format!("{}:{}: {}\n    {}", it.file, it.line, it.cure, it.text))
        .collect();
    assert!(
        faults.is_empty(),
        "{}\n{} faults; tests/words.toml has the rules, and room for exceptions with a reason",
        faults.join("\n"),
        faults.len()
    );
}

/// The rules bite: a page and a source with one fault of each kind.
#[test]
fn a_banned_word_is_found_in_prose_docs_errors_and_facts_and_not_in_code() {
    let words = banned(&data());
    let page = "Nobody reads `whatever`.\n```text\nwhoever\n```\n[link](whoever.md) is fine.\n";
    assert_eq!(found(&prose_of_page(page), &words), ["1 nobody"]);
    let source = "//! The newest one.\n/// Tells `whoever`.\npub fn tell() {\n    // Nobody reads this.\n    bail!(\"no hop: {}\", \"whoever\");\n}\n";
    assert_eq!(
        found(&prose_of_source(source), &words),
        ["1 newest", "5 hop"]
    );
    let source = "fn fmt() {\n    write!(f, \"begin anew, {hop}\")\n}\nlet e = errors::internal(&format!(\"nobody\"));\n";
    assert_eq!(
        found(&prose_of_source(source), &words),
        ["2 anew", "4 nobody"]
    );
    let facts = "# Nobody\n[[rule]]\nid = \"whoever\"\nreason = \"a \\\"modern\\\" one\"\nexample = [{ input = '{\"says\":\"hop\"}' }]\nanswer = { waiver = \"`told` anew\" }\n";
    assert_eq!(found(&prose_of_spec(facts), &words), ["4 modern", "6 anew"]);
    let docs = [
        ("/// Returns it.\npub fn a() {}\n", true),
        (
            "/// Whether it is.\n#[must_use]\npub async fn b() {}\n",
            false,
        ),
        ("/// As [`a`].\npub const fn c() {}\n", false),
        ("/// Hidden.\n#[doc(hidden)]\npub fn d() {}\n", true),
    ];
    for (source, is_fine) in docs {
        assert_eq!(without_verb(source).is_empty(), is_fine, "{source}");
    }
}

fn found(prose: &[(usize, String)], words: &[(Regex, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (line, text) in prose {
        for (word, _) in words {
            let hits = word.find_iter(text);
            found.extend(hits.map(|hit| format!("{line} {}", hit.as_str().to_lowercase())));
        }
    }
    found
}

/// Every fault of the checkout, but for the exceptions.
fn all_faults(data: &toml::Table) -> Vec<Fault> {
    let (words, exceptions) = (banned(data), rows(data, "exception"));
    let mut faults = Vec::new();
    let mut check = |file: &str, prose: Vec<(usize, String)>| {
        for (line, text) in prose {
            for (word, instead) in &words {
                let Some(hit) = word.find(&text) else {
                    continue;
                };
                faults.push(Fault {
                    file: file.to_owned(),
                    line,
                    cure: format!("`{}`: write {instead}", hit.as_str()),
                    text: text.trim().to_owned(),
                });
            }
        }
    };
    let root = root();
    for (page, text) in pages(&root) {
        check(&name(&root, &page), prose_of_page(&text));
    }
    for (file, text) in files(&root, &["spec"], ".toml") {
        check(&file, prose_of_spec(&text));
    }
    let mut verbs = Vec::new();
    for (file, text) in sources(&root) {
        check(&file, prose_of_source(&text));
        for (line, text) in without_verb(&text) {
            verbs.push(Fault {
                file: file.clone(),
                line,
                text,
                cure: "begin the doc line of a function with a verb in the third person: Returns, Sets, Sends"
                    .to_owned(),
            });
        }
    }
    faults.append(&mut verbs);
    faults.retain(|fault| {
        !exceptions
            .iter()
            .any(|row| text(row, "file") == fault.file && fault.text.contains(text(row, "text")))
    });
    faults
}

pub(crate) fn data() -> toml::Table {
    let file = root().join("tests/words.toml");
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

fn rows<'d>(data: &'d toml::Table, key: &str) -> Vec<&'d toml::Table> {
    let rows = data.get(key).and_then(toml::Value::as_array);
    rows.into_iter()
        .flatten()
        .map(|row| row.as_table().unwrap())
        .collect()
}

fn text<'d>(row: &'d toml::Table, key: &str) -> &'d str {
    row.get(key)
        .and_then(toml::Value::as_str)
        .unwrap_or_else(|| panic!("{row}: `{key}` is missing"))
}

/// The words, as whole words in any case, with what to write instead.
fn banned(data: &toml::Table) -> Vec<(Regex, String)> {
    let rows = rows(data, "word").into_iter().map(|row| {
        let words = row["words"].as_array().unwrap().iter();
        let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
        let pattern = format!(r"(?i)\b(?:{})\b", words.join("|"));
        (
            Regex::new(&pattern).unwrap(),
            text(row, "instead").to_owned(),
        )
    });
    rows.collect()
}

/// The lines of a page that are prose, by number, without code spans and the targets of links.
fn prose_of_page(page: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let lines = page.lines().enumerate().filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.map(|(at, line)| (at + 1, plain(line))).collect()
}

/// The lines of doc comments that are prose, and the texts of errors.
fn prose_of_source(source: &str) -> Vec<(usize, String)> {
    let mut prose = Vec::new();
    let mut is_code = false;
    for (at, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(doc) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        else {
            is_code = false;
            continue;
        };
        let is_fence = doc.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            prose.push((at + 1, plain(doc)));
        }
    }
    static ERRORS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
        r#"(?:#\[error\(|bail!\(|anyhow!\(|ensure!\([^"]*?|context\((?:\|\| format!\()?|write!\(\s*f,|write_str\(|errors::\w+\(\s*&?(?:format!\()?)\s*"((?:[^"\\]|\\.)*)""#,
        )
        .unwrap()
    });
    prose.extend(texts(&ERRORS, source));
    prose
}

/// The texts of a file of `spec/` that programs print.
fn prose_of_spec(file: &str) -> Vec<(usize, String)> {
    static TEXTS: LazyLock<Regex> = LazyLock::new(|| {
        let keys = "doc|meaning|message|reason|says|waiver";
        Regex::new(&format!(r#"\b(?:{keys}) = "((?:[^"\\]|\\.)*)""#)).unwrap()
    });
    texts(&TEXTS, file).collect()
}

/// The texts of a file that a pattern captures, by the number of the line.
fn texts(pattern: &Regex, file: &str) -> impl Iterator<Item = (usize, String)> {
    pattern.captures_iter(file).map(|hit| {
        let text = hit.get(1).unwrap();
        (file[..text.start()].lines().count(), plain(text.as_str()))
    })
}

/// A line without code spans, the targets of links, and what stands for a value.
fn plain(line: &str) -> String {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`[^`]*`|\]\([^)]*\)|\]\[[^\]]*\]|\{[^}]*\}").unwrap());
    CODE.replace_all(line, "]").into_owned()
}

/// The doc lines of public functions that do not begin with a verb in the third person.
fn without_verb(source: &str) -> Vec<(usize, String)> {
    static VERB: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[A-Z][a-z-]*s\b").unwrap());
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^pub (?:async |const )*fn ").unwrap());
    let mut faults = Vec::new();
    let (mut first, mut is_hidden) = (None, false);
    for (at, line) in source.lines().enumerate() {
        let line = line.trim_start();
        if let Some(doc) = line.strip_prefix("/// ") {
            first.get_or_insert((at + 1, doc));
        } else if FUNCTION.is_match(line) {
            // A doc line made by a macro stands before the first of these.
            let doc = first
                .take()
                .filter(|(_, doc): &(_, &str)| !doc.starts_with('#'));
            if let Some((at, doc)) = doc.filter(|_| !is_hidden) {
                let word = doc.split([' ', '.', ',', ':']).next().unwrap();
                if !VERB.is_match(doc) || NO_VERBS.contains(&word) {
                    faults.push((at, doc.to_owned()));
                }
            }
            is_hidden = false;
        } else if line.contains("doc(hidden)") {
            is_hidden = true;
        } else if !line.starts_with("#[") && !line.starts_with("///") && !is_attribute(line) {
            (first, is_hidden) = (None, false);
        }
    }
    faults
}

/// Words that end as verbs do, and are none.
const NO_VERBS: [&str; 10] = [
    "As", "Its", "Is", "Has", "This", "These", "Those", "Less", "Unless", "Always",
];

/// Whether a line belongs to an attribute of several lines.
fn is_attribute(line: &str) -> bool {
    line.starts_with([')', '"']) || line.starts_with("clippy::") || line.starts_with("reason =")
}

/// The sources whose docs and errors people read, by path from the root.
pub(crate) fn sources(root: &Path) -> Vec<(String, String)> {
    let folders = ["codegen", "generated", "runtime", "tests/programs", "xtask"];
    files(root, &folders, ".rs")
}

/// The files of folders whose names end in a way, but for those of tests, by path from the root.
fn files(root: &Path, folders: &[&str], ending: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let last = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !path.is_symlink() {
                if !matches!(last, "tests" | "benches" | "target" | "goldens") {
                    folders.push(path);
                }
            } else if last.ends_with(ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                files.push((name(root, &path), text));
            }
        }
    }
    files.sort();
    files
}

/// A path from the root, with `/`.
fn name(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap();
    path.to_str().unwrap().replace('\\', "/")
}
