//! One session: starts the client, the bridge and the server, and collects the output of the client.

use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::Programs;
use super::servers::ComparedServer;
use crate::interop::peers::Installed;
use crate::interop::run::told;
use crate::process::RunningProcess;

/// Returns the reports of a client about its steps, in one revision.
pub(super) fn run(
    client: &Installed,
    mode: &str,
    server: &ComparedServer,
    programs: &Programs,
    channel: &str,
    revision: &str,
) -> anyhow::Result<Vec<Value>> {
    let mut command = Command::new(&client.program);
    command
        .args(&client.arguments)
        .arg(server.plan(revision))
        .args([mode, channel]);
    let options = [
        "bridge",
        "--loss-log",
        "off",
        "--client-revisions",
        revision,
    ];
    if channel == "stdio" {
        command
            .arg(&programs.bridge)
            .args(options)
            .args(["--log", "off", "--"])
            .args(&server.stdio);
        return told(command);
    }
    let (program, arguments) = server.http.split_first().context("no program")?;
    let mut listening = Command::new(program);
    listening.args(arguments);
    if let Some(port) = server.port {
        listening.env("PORT", port.to_string());
    }
    let (_server, url) = RunningProcess::listening(&mut listening, server.port)?;
    let mut bridge = Command::new(&programs.bridge);
    bridge
        .args(options)
        .args(["--listen", "http://127.0.0.1:0/mcp", &url]);
    let (_bridge, url) = RunningProcess::listening(&mut bridge, None)?;
    command.arg(url);
    told(command)
}
