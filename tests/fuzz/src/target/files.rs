//! Files that a person keeps or takes from elsewhere: servers of a host, and skills. Each is read from a folder of its own.

use std::path::Path;

use mcp_bridge::config::Config;
use mcp_revisions::service::Router;

use super::{Signature, Target, digest, kind_of};

pub(super) const SERVERS: Target = Target {
    name: "servers",
    corpus: servers_corpus,
    run: run_servers,
};

pub(super) const SKILL: Target = Target {
    name: "skill",
    corpus: skill_corpus,
    run: run_skill,
};

/// Files of hosts: objects in JSON, with comments, and tables in TOML.
fn servers_corpus() -> Vec<Vec<u8>> {
    [
        r#"{"mcpServers":{"git":{"command":"git-mcp","args":["--root","${HOME}","${NOWHERE:-x}"],"env":{"TOKEN":"${TOKEN}"},"cwd":"."},"web":{"url":"https://mcp.example/mcp?key=1","headers":{"Authorization":"Bearer ${TOKEN:-t}"}}}}"#,
        "// settings of an editor\n{\"mcp\":{\"servers\":{\"a\":{\"type\":\"stdio\",\"command\":\"a\",\"envFile\":\"${workspaceFolder}/.env\"},\"b\":{\"type\":\"sse\",\"url\":\"http://127.0.0.1:1/sse\"},}},}",
        r#"{"context_servers":{"z":{"source":"custom","enabled":false,"command":{"path":"z","args":[],"env":null}},"y":{"command":"y","disabled":false,"alwaysAllow":["t"],"timeout":60}}}"#,
        "[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\"-y\"]\nstartup_timeout_sec = 20\n[mcp_servers.docs.env]\nA = \"1\"\n\n[mcp_servers.web]\nurl = \"https://mcp.example/mcp\"\nbearer_token_env_var = \"TOKEN\"\n",
        r#"{"mcpServers":{"a":{"command":"x"},"a":{"url":"nowhere"},"":{"command":""},"b":null}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

fn run_servers(input: &[u8]) -> Result<Signature, String> {
    let is_json = input.trim_ascii_start().starts_with(b"{") || input.starts_with(b"//");
    let name = if is_json { "mcp.json" } else { "config.toml" };
    let read = in_a_folder(name, input, |folder| Config::read(&folder.join(name)))?;
    let config = match read {
        Err(error) => {
            let shown = error.to_string();
            is_shown(&shown)?;
            return Ok(kind_of(&shown));
        }
        Ok(config) => config,
    };
    let mut behaviour = String::new();
    for (at, entry) in config.servers.iter().enumerate() {
        if config.servers[..at].iter().any(|it| it.name == entry.name) {
            return Err(format!("two servers are called {:?}", entry.name));
        }
    }
    for (server, mistake) in config.mistakes() {
        is_shown(mistake).map_err(|why| format!("{server:?}: {why}"))?;
        behaviour.push_str(mistake);
    }
    for note in &config.notes {
        is_shown(note)?;
        behaviour.push_str(note);
    }
    Ok(kind_of(&behaviour) ^ digest(&[config.servers.len() as u8]))
}

fn skill_corpus() -> Vec<Vec<u8>> {
    [
        "---\nname: one\ndescription: Does one thing.\n---\n\n# One\n",
        "\u{feff}---\nname: \"one\"\ndescription: >\n  Two\n  lines\nlicense: MIT\nmetadata:\n  a: [1, 2.5, true, null]\n  b: {c: d}\n---\ntext",
        "---\nname: one\ndescription: |\n  a\nallowed-tools: &a Read Write\ncompatibility: *a\n---\n",
        "---\nname: one\nname: two\ndescription: 2024-01-01\n? complex\n: key\n---\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

fn run_skill(input: &[u8]) -> Result<Signature, String> {
    let built = in_a_folder("one/SKILL.md", input, |folder| {
        Router::new().skills(folder).build("fuzzed", "1")
    })?;
    match built {
        Ok(_) => Ok(1),
        Err(error) => {
            let shown = error.to_string();
            is_shown(&shown)?;
            Ok(kind_of(&shown))
        }
    }
}

/// Runs something with the folder of a file, which is gone afterwards.
fn in_a_folder<T>(name: &str, text: &[u8], run: impl FnOnce(&Path) -> T) -> Result<T, String> {
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    let folder = format!("mcp-fuzz-{}-{thread}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    let path = folder.join(name);
    let written = std::fs::create_dir_all(path.parent().unwrap_or(&folder))
        .and_then(|()| std::fs::write(&path, text));
    written.map_err(|error| error.to_string())?;
    let outcome = run(&folder);
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(outcome)
}

/// Returns an error unless a terminal can show a text, and a person can read it.
fn is_shown(text: &str) -> Result<(), String> {
    if text.chars().any(|it| it.is_control() && it != '\n') {
        return Err(format!("a text with control characters: {text:?}"));
    }
    if text.len() > 4 << 10 {
        return Err(format!("a text of {} bytes: {:.200}", text.len(), text));
    }
    Ok(())
}
