//! The examples that newcomers copy do what their first lines say.
//!
//! `cargo test` builds them; a run of these tests alone (`--test it`) needs `cargo build -p mcp-revisions --examples` before.

use std::path::PathBuf;
use std::process::Command;

/// The program of an example, or `None` where examples are not built.
fn example(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let program = test.parent()?.parent()?.join("examples").join(name);
    let is_built = program.is_file();
    if !is_built {
        eprintln!("skipped: {} is not built", program.display());
    }
    is_built.then_some(program)
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_interactive_client_answers_its_server() {
    let Some(interactive) = example("interactive") else {
        return;
    };
    let text = output(&mut Command::new(interactive));
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "the server asks: What is your name?",
        "greet: Hello, Ada.",
        "summarize: Three lines.",
        "folders: file:///home/ada/project",
        "1 of Some(3.0)",
        "2 of Some(3.0)",
        "3 of Some(3.0)",
        "count: done",
    ];
    assert_eq!(lines[..expected.len()], expected, "{text}");
    assert!(lines[expected.len()].contains("100ms"), "{text}");
    assert_eq!(lines[expected.len() + 1..], ["sleep: cancelled"], "{text}");
}

#[test]
fn the_client_of_the_readme_calls_its_server() {
    let (Some(client), Some(server)) = (example("client"), example("server")) else {
        return;
    };
    let text = output(Command::new(client).arg(server));
    assert!(text.starts_with("weather\n"), "{text}");
    assert!(text.contains(r#"{"celsius":21.5}"#), "{text}");
}

#[test]
fn a_client_follows_a_task_and_waits_where_there_is_none() {
    let Some(tasks) = example("tasks") else {
        return;
    };
    let text = output(&mut Command::new(tasks));
    assert!(text.contains("2026-07-28: the task is working"), "{text}");
    for revision in ["2026-07-28", "2025-06-18"] {
        assert!(
            text.contains(&format!("{revision}: built for linux")),
            "{text}"
        );
    }
}
