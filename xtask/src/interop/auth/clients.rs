//! Clients of others that sign in to the guarded bridge, with the script in place of the person.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use serde_json::Value;

use super::{AuthAddresses, AuthPrograms};
use crate::interop::peers::{cargo, copy, pypi};
use crate::process::npm_install;
use crate::workspace::root;

/// Number of steps that each script tells of at least: connect, list, call, read.
const STEPS: usize = 4;

/// A client: its name, its packages, and the script that signs in with it.
struct SignInClient {
    name: &'static str,
    source: ClientSource,
    script: &'static str,
}

enum ClientSource {
    Npm(&'static [&'static str]),
    PyPi(&'static str),
    /// A crate of ours with a program that uses a package.
    Cargo(&'static str),
}

const CLIENTS: [SignInClient; 5] = [
    SignInClient {
        name: "TypeScript SDK",
        source: ClientSource::Npm(&["@modelcontextprotocol/sdk@1"]),
        script: "typescript-1.mjs",
    },
    SignInClient {
        name: "TypeScript client",
        source: ClientSource::Npm(&["@modelcontextprotocol/client@2"]),
        script: "typescript-2.mjs",
    },
    SignInClient {
        name: "Python SDK",
        source: ClientSource::PyPi("mcp"),
        script: "python.py",
    },
    SignInClient {
        name: "mcp-remote",
        source: ClientSource::Npm(&["@modelcontextprotocol/sdk@1", "mcp-remote"]),
        script: "mcp-remote.mjs",
    },
    SignInClient {
        name: "rmcp",
        source: ClientSource::Cargo("rmcp"),
        script: "sign_in",
    },
];

/// Signs in with each client that can be installed; returns a line for each.
pub(super) fn run(
    programs: &AuthPrograms,
    addresses: &AuthAddresses,
) -> anyhow::Result<Vec<String>> {
    let from = root()?.join("tests/interop");
    copy(&from.join("steps.mjs"), &programs.scripts.join("steps.mjs"))?;
    let shared = from.join("auth/sign_in.mjs");
    copy(&shared, &programs.scripts.join("sign_in.mjs"))?;
    let mut lines = Vec::new();
    for client in CLIENTS {
        eprintln!("{}: installing", client.name);
        match install(&client, &programs.scripts) {
            Ok((version, mut command)) => {
                let said = programs.with_person(command.arg(&addresses.server), client.script)?;
                let read = said.lines().map(serde_json::from_str);
                let steps: Vec<Value> = read.collect::<Result<_, _>>()?;
                let is_good = steps.iter().all(|step| step.get("error").is_none());
                ensure!(is_good && steps.len() >= STEPS, "{}: {said}", client.name);
                lines.push(format!(
                    "{} {version}: signed in with an authorization code, {} steps",
                    client.name,
                    steps.len()
                ));
            }
            Err(why) => lines.push(format!("{} was skipped: {why:#}", client.name)),
        }
    }
    Ok(lines)
}

/// Installs a client; returns its version, and the command that takes the URL of the server.
fn install(client: &SignInClient, folder: &Path) -> anyhow::Result<(String, Command)> {
    let scripts = root()?.join("tests/interop");
    let script = || {
        let script = folder.join(client.script);
        copy(&scripts.join("auth").join(client.script), &script).map(|()| script)
    };
    let (version, program, script) = match client.source {
        ClientSource::Npm(packages) => {
            let mut version = String::new();
            for package in packages {
                (_, version) = npm_install(package, folder)?;
            }
            (version, "node".into(), Some(script()?))
        }
        ClientSource::PyPi(package) => {
            let (version, program, _) = pypi(&[package], client.script, folder)?;
            (version, program, Some(script()?))
        }
        ClientSource::Cargo(package) => {
            // What is built is shared with the other interop runs.
            let shared = folder.parent().unwrap_or(folder);
            cargo(package, client.script, &scripts, shared)?
        }
    };
    let mut command = Command::new(program);
    command.args(script);
    Ok((version, command))
}
