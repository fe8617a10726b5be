//! What the compiler says of typical mistakes of an author: each message says what to write.
//!
//! Each mistake is a program of a few lines, which the compiler checks against the library that this test was built with.

use std::path::{Path, PathBuf};
use std::process::Command;

const PRELUDE: &str = "
#![allow(unused, async_fn_in_trait)]
use std::{cell::RefCell, rc::Rc};
use mcp_revisions::{Latest, latest as mcp};
use mcp_revisions::service::{Error, Json, RequestContext, Router, State, router::NoArguments};
fn router() -> Router { Router::new() }
struct Mine;
fn main() {
";

/// On a line the items of a program, `=>` and its expression; below, what the compiler has to say of it.
const MISTAKES: &str = r##"
fn f() -> String { String::new() } => router().tool("a", "", f)
    is not a handler | a closure with an `async` block
async fn f(_: &NoArguments) -> String { String::new() } => router().tool("a", "", f)
    is not a handler | taken by value
async fn f(_: Mine) -> String { String::new() } => router().tool("a", "", f)
    is not a handler | serde::Deserialize
async fn f(_: NoArguments, _: NoArguments) -> String { String::new() } => router().tool("a", "", f)
    is not a handler | at most one struct of arguments
async fn f(_: RequestContext<()>) -> String { String::new() } => router().tool("a", "", f)
    is not a handler | values of the context: `RequestContext`
struct S; impl S { async fn f(&self) -> String { String::new() } } => router().with_state(S).tool("a", "", S::f)
    is not a handler | take `State<S>`, and call the method
 => router().tool("a", "", || "text")
    is not a handler | a closure with an `async` block
 => router().tool("a", "", "text")
    is not a handler | expected an `async fn`
async fn g() {} async fn f() -> String { let rc = Rc::new(1); g().await; rc.to_string() } => router().tool("a", "", f)
    future cannot be sent between threads safely | g().await
 => { let text = String::new(); router().tool("a", "", || async { text.clone() }) }
    may outlive
async fn f() -> Vec<u8> { Vec::new() } => router().tool("a", "", f)
    a tool cannot answer with `Vec<u8>` | return text, `Json<T>`
async fn f() -> Option<String> { None } => router().tool("a", "", f)
    a tool cannot answer with `Option< | return text, `Json<T>`
async fn f() -> Mine { Mine } => router().tool("a", "", f)
    a tool cannot answer with `Mine` | return `Json<T>` for structured content
async fn f() -> Json<Mine> { Json(Mine) } => router().tool("a", "", f)
    Mine | Serialize
async fn f() -> Result<String, Mine> { Err(Mine) } => router().tool("a", "", f)
    Mine | std::fmt::Display
async fn f() -> i32 { 1 } => router().resource("x://1", "a", f)
    a resource cannot be read as `i32` | `Vec<u8>`
async fn f() -> Vec<String> { Vec::new() } => router().prompt("a", "", f)
    a prompt cannot answer with `Vec< | `Vec<mcp::PromptMessage>`
async fn f(_: String) -> String { String::new() } => router().completion("a", "b", f)
    a completion cannot answer with ` | `Vec<String>`
async fn f() -> Vec<String> { Vec::new() } => router().completion("a", "b", f)
    the argument of this function is a text | what was typed so far
async fn f(_: String) -> String { String::new() } => router().resource("x://1", "a", f)
    is called without arguments here | use `Router::resource_template`
async fn l(_: u8) -> Vec<mcp::Tool> { Vec::new() } async fn c() -> String { String::new() } => router().dynamic_tools(l, c)
    takes the cursor of the page | `Option<String>`
async fn l() -> String { String::new() } async fn c() -> String { String::new() } => router().dynamic_tools(l, c)
    a function that lists cannot answer with | `Vec` of all entries
 => router().with_state(Rc::new(1))
    cannot be sent between threads safely
 => router().build("a", "1").stdio()
    no method named `stdio` | Result
"##;

/// A library of the target folder in which a program without a mistake compiles.
fn library(deps: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(deps).ok()?.flatten();
    let mut found: Vec<_> = files
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let is_it = name.starts_with("libmcp_revisions-") && name.ends_with(".rlib");
            is_it.then_some((file.metadata().ok()?.modified().ok()?, file.path()))
        })
        .collect();
    found.sort();
    let libraries = found.into_iter().rev().map(|(_, path)| path);
    let right = r#"router().tool("a", "", f)"#;
    let program = "async fn f(_: State<u8>) -> String { String::new() }";
    let mut right = libraries.filter(|it| check(deps, it, "right", program, right).is_none());
    right.next()
}

/// Returns what the compiler says of a program; `None` if it compiles.
fn check(deps: &Path, library: &Path, name: &str, items: &str, call: &str) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("mcp-{}-mistakes", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join(format!("{name}.rs"));
    std::fs::write(
        &source,
        format!("{PRELUDE}let _ = {{ {call} }};\n}}\n{items}\n"),
    )
    .unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut library_is = std::ffi::OsString::from("mcp_revisions=");
    library_is.push(library);
    let output = Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "--emit",
            "metadata",
            "--color",
            "never",
        ])
        .arg("-L")
        .arg(deps)
        .arg("--extern")
        .arg(library_is)
        .arg("--out-dir")
        .arg(&folder)
        .arg(&source)
        .output()
        .unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_compiler_says_what_to_write_in_the_place_of_each_mistake() {
    let test = std::env::current_exe().unwrap();
    let deps = test.parent().unwrap();
    let Some(library) = library(deps) else {
        eprintln!(
            "skipped: no library in {} that a program compiles with",
            deps.display()
        );
        return;
    };
    let mut wrong = Vec::new();
    let lines: Vec<&str> = MISTAKES.trim().lines().collect();
    for (number, mistake) in lines.chunks(2).enumerate() {
        let (items, call) = mistake[0].split_once("=> ").unwrap();
        let expected = mistake[1].trim().split(" | ");
        match check(deps, &library, &format!("mistake{number}"), items, call) {
            None => wrong.push(format!("{items} {call} compiles")),
            Some(said) => {
                if std::env::var_os("SHOW").is_some() {
                    eprintln!("=== {items} {call}\n{said}");
                }
                let missing = expected.filter(|text| !said.contains(text));
                let missing: Vec<_> = missing.collect();
                if !missing.is_empty() {
                    wrong.push(format!("{items} {call}: {missing:?} is not in\n{said}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
