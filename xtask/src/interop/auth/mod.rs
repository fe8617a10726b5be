//! `cargo xtask interop --auth`: whole sign-ins of `mcp-rev` and of clients of others to a guarded bridge, with npm `oidc-provider`
//! as the authorization server and a script in place of the person.

mod clients;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use mcp_revisions_diff::command::CommandOutcome;
use serde_json::Value;

use super::peers::copy;
use super::run::told;
use crate::process::{Built, RunningProcess, npm_install, output};
use crate::workspace::root;

/// The package of the authorization server.
const PROVIDER: &str = "oidc-provider@9";
/// The variable with the secret of the guard, and its value, which no output may have.
const SECRET: (&str, &str) = ("MCP_REV_INTEROP_SECRET", "s3cret-of-the-guard");
/// Time that a server has until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// The programs, and the folder for what they write.
struct AuthPrograms {
    mcp_rev: PathBuf,
    stdio_client: PathBuf,
    stdio_server: PathBuf,
    /// The folder of the scripts and of the package that they use.
    scripts: PathBuf,
    /// The folder of sign-ins and outputs.
    outputs: PathBuf,
}

/// The addresses of the two servers.
struct AuthAddresses {
    issuer_port: u16,
    issuer: String,
    server_port: u16,
    /// The URL of the guarded bridge.
    server: String,
}

/// Runs all steps; the first that fails ends it.
pub(super) fn run(revisions: &[&str]) -> anyhow::Result<CommandOutcome> {
    let programs = match AuthPrograms::build() {
        Ok(programs) => programs,
        Err(why) => return Ok(CommandOutcome::passed(format!("skipped: {why:#}\n"))),
    };
    let addresses = AuthAddresses::free()?;
    let mut lines = Vec::new();
    let done = sign_in(&programs, &addresses, revisions, &mut lines);
    let mut text: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    match done {
        Ok(()) => Ok(CommandOutcome::passed(text)),
        Err(why) => {
            text.push_str(&format!("- failed: {why:#}\n"));
            let mut outcome = CommandOutcome::passed(text);
            outcome.passed = false;
            Ok(outcome)
        }
    }
}

/// Signs in, calls tools in each revision, steps up, signs out, and looks for secrets in all outputs.
fn sign_in(
    programs: &AuthPrograms,
    addresses: &AuthAddresses,
    revisions: &[&str],
    lines: &mut Vec<String>,
) -> anyhow::Result<()> {
    let mut provider = Command::new("node");
    provider.arg(programs.scripts.join("provider.mjs"));
    provider.arg(addresses.issuer_port.to_string());
    provider.args([&addresses.server, SECRET.1]);
    let _provider = programs.start(&mut provider, "provider", addresses.issuer_port)?;

    let guarded = programs.guard(addresses, &["read"])?;
    let said = programs.login(addresses, "code", &[])?;
    lines.push(format!("signed in with an authorization code: {said}"));
    let first = client_of(&said)?;
    for revision in revisions {
        let mut direct = Command::new(&programs.stdio_client);
        direct
            .args(["--only", revision])
            .arg(&programs.stdio_server);
        let expected = told(direct)?.len();
        let mut client = Command::new(&programs.stdio_client);
        client.args(["--only", revision]).arg(&programs.mcp_rev);
        client
            .args(["bridge", "--auth-store"])
            .arg(programs.outputs.join("store"));
        client.args(["--log", "trace", "--no-browser", "--record"]);
        client.arg(programs.outputs.join(format!("record-{revision}.txt")));
        client.arg(&addresses.server);
        let steps = told(client)?;
        let failed = steps.iter().find(|step| step.get("error").is_some());
        ensure!(
            failed.is_none(),
            "{revision}: {}",
            failed.unwrap_or(&Value::Null)
        );
        ensure!(
            expected > 0 && steps.len() == expected,
            "{revision}: {} of {expected} steps",
            steps.len()
        );
        lines.push(format!(
            "{revision}: {expected} steps of a client over stdio, with tokens of 4 seconds"
        ));
    }

    lines.extend(clients::run(programs, addresses)?);

    drop(guarded);
    let guarded = programs.guard(addresses, &["read", "write"])?;
    let said = programs.login(addresses, "step-up", &[])?;
    ensure!(said.contains("scope read write"), "no step-up: {said}");
    ensure!(
        client_of(&said)? != first,
        "the client was not registered again: {said}"
    );
    lines.push(format!("stepped up, with another registration: {said}"));
    let mut secrets = programs.secrets()?;
    let mut logout = programs.mcp_rev(&["logout"]);
    let said = output(logout.arg(&addresses.server))?;
    ensure!(!said.contains("not revoked"), "logout: {said}");
    lines.push(format!("{}, and the tokens are revoked", said.trim()));

    let said = programs.login(addresses, "device", &["--auth", "device"])?;
    lines.push(format!("signed in with a device code: {said}"));
    secrets.extend(programs.secrets()?);
    drop(guarded);
    let files = programs.search(&secrets)?;
    lines.push(format!("no secret in {files} files of logs and records"));
    Ok(())
}

impl AuthPrograms {
    fn build() -> anyhow::Result<Self> {
        output(Command::new("node").arg("--version")).context("there is no node")?;
        let built = Built::of("--package mcp-revisions --examples")?;
        let mcp_rev = Built::of("--package mcp-rev --bin mcp-rev")?;
        let folder = built.folder("stdio_server")?.join("auth");
        eprintln!("installing {PROVIDER}");
        npm_install(PROVIDER, &folder)?;
        for script in ["provider.mjs", "person.mjs"] {
            let from = root()?.join("tests/interop/auth").join(script);
            copy(&from, &folder.join(script))?;
        }
        let outputs = folder.join("outputs");
        if outputs.exists() {
            fs::remove_dir_all(&outputs)?;
        }
        fs::create_dir_all(&outputs)?;
        Ok(Self {
            mcp_rev: mcp_rev.program("mcp-rev")?,
            stdio_client: built.program("stdio_client")?,
            stdio_server: built.program("stdio_server")?,
            scripts: folder,
            outputs,
        })
    }

    /// Returns a subcommand of `mcp-rev` with the store of this run.
    fn mcp_rev(&self, subcommand: &[&str]) -> Command {
        let mut command = Command::new(&self.mcp_rev);
        command.args(subcommand).arg("--auth-store");
        command.arg(self.outputs.join("store"));
        command
    }

    /// Starts a server whose output is kept, and waits until its port can be reached.
    fn start(
        &self,
        command: &mut Command,
        name: &str,
        port: u16,
    ) -> anyhow::Result<RunningProcess> {
        let file = |end: &str| File::create(self.outputs.join(format!("{name}.{end}.txt")));
        command.stdin(Stdio::null());
        command.stdout(file("out")?).stderr(file("err")?);
        let started = RunningProcess::start(command).with_context(|| name.to_owned())?;
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(Instant::now() < deadline, "{name} does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(started)
    }

    /// Starts a bridge that wants tokens with these scopes.
    fn guard(&self, addresses: &AuthAddresses, scopes: &[&str]) -> anyhow::Result<RunningProcess> {
        let mut bridge = Command::new(&self.mcp_rev);
        let listen = format!("http://127.0.0.1:{}/mcp", addresses.server_port);
        bridge.args(["bridge", "--log", "trace", "--listen", &listen]);
        bridge.args([
            "--guard",
            &addresses.server,
            "--guard-issuer",
            &addresses.issuer,
        ]);
        let introspection = format!("{}/token/introspection", addresses.issuer);
        bridge.args(["--guard-introspection", &introspection]);
        bridge.args([
            "--guard-client-id",
            "guard",
            "--guard-client-secret-env",
            SECRET.0,
        ]);
        bridge.env(SECRET.0, SECRET.1);
        for scope in scopes {
            bridge.args(["--guard-scope", scope]);
        }
        bridge.arg("--").arg(&self.stdio_server);
        let name = format!("guard-{}", scopes.len());
        self.start(&mut bridge, &name, addresses.server_port)
    }

    /// Signs in by `mcp-rev login`, whose page the script goes through; returns what it prints.
    fn login(
        &self,
        addresses: &AuthAddresses,
        name: &str,
        more: &[&str],
    ) -> anyhow::Result<String> {
        let mut command = self.mcp_rev(&["login"]);
        command.args(["--no-browser", &addresses.server]).args(more);
        let said = self.with_person(&mut command, &format!("login-{name}"))?;
        Ok(said.trim().to_owned())
    }

    /// Runs a program that names pages on standard error, which the script goes through; returns what it prints.
    fn with_person(&self, command: &mut Command, name: &str) -> anyhow::Result<String> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut program = command.spawn().with_context(|| name.to_owned())?;
        let pages = BufReader::new(program.stderr.take().context("no standard error")?);
        let mut told = Vec::new();
        for read in pages.lines() {
            let line = read?;
            if line.starts_with("http://") {
                let mut person = Command::new("node");
                person.arg(self.scripts.join("person.mjs")).arg(&line);
                output(&mut person).context("the person")?;
            } else {
                told.push(line);
            }
        }
        let mut said = String::new();
        let mut printed = program.stdout.take().context("no standard output")?;
        printed.read_to_string(&mut said)?;
        let status = program.wait()?;
        let both = format!("{said}{}", told.join("\n"));
        fs::write(self.outputs.join(format!("{name}.txt")), &both)?;
        ensure!(status.success(), "{name}: {both}");
        Ok(said)
    }

    /// Returns the secrets of the store.
    fn secrets(&self) -> anyhow::Result<Vec<String>> {
        let mut secrets = vec![SECRET.1.to_owned()];
        for entry in fs::read_dir(self.outputs.join("store"))? {
            let Ok(text) = fs::read_to_string(entry?.path()) else {
                continue;
            };
            let Ok(kept) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            let members = [
                ("tokens", "access"),
                ("tokens", "refresh"),
                ("registration", "client_secret"),
            ];
            let found = members
                .iter()
                .filter_map(|(part, name)| kept[part][name].as_str());
            secrets.extend(found.map(str::to_owned));
        }
        ensure!(secrets.len() > 1, "the store has no tokens");
        Ok(secrets)
    }

    /// Looks for secrets in all that was written beside the store; returns the number of files.
    fn search(&self, secrets: &[String]) -> anyhow::Result<usize> {
        let mut files = 0;
        for entry in fs::read_dir(&self.outputs)? {
            let path = entry?.path();
            if path.is_dir() || path.file_name().is_some_and(is_of_provider) {
                continue;
            }
            let bytes = fs::read(&path)?;
            let text = String::from_utf8_lossy(&bytes);
            for secret in secrets {
                ensure!(!text.contains(secret), "{} has a secret", path.display());
            }
            files += 1;
        }
        ensure!(files > 3, "only {files} files were searched");
        Ok(files)
    }
}

fn is_of_provider(name: &std::ffi::OsStr) -> bool {
    Path::new(name).to_string_lossy().starts_with("provider")
}

impl AuthAddresses {
    /// Finds two ports that are free.
    fn free() -> anyhow::Result<Self> {
        let listeners = [
            TcpListener::bind("127.0.0.1:0")?,
            TcpListener::bind("127.0.0.1:0")?,
        ];
        let ports = listeners.map(|listener| listener.local_addr().map(|address| address.port()));
        let [issuer_port, server_port] = ports;
        let (issuer_port, server_port) = (issuer_port?, server_port?);
        Ok(Self {
            issuer_port,
            issuer: format!("http://127.0.0.1:{issuer_port}"),
            server_port,
            server: format!("http://127.0.0.1:{server_port}/mcp"),
        })
    }
}

/// Returns the client's id in a line of `login`.
fn client_of(said: &str) -> anyhow::Result<String> {
    let Some((_, rest)) = said.split_once(", client ") else {
        bail!("no client: {said}")
    };
    Ok(rest.split(',').next().unwrap_or(rest).to_owned())
}
