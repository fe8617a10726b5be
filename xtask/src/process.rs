//! What the commands build and run beside themselves: crates of this workspace, packages of npm, servers that end with
//! what started them.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::workspace::root;

/// The time that a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns a command of the cargo that runs this.
pub(crate) fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(command);
    cargo
}

/// Returns the output of a command; if it fails, the error has the last line of its error output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{program}` cannot be started"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    bail!("`{program}` failed: {}", last.unwrap_or("no reason given"))
}

/// Installs a package of npm into a folder, beside what it has already; returns where it lies, and its version.
pub(crate) fn npm_install(package: &str, folder: &Path) -> anyhow::Result<(PathBuf, String)> {
    fs::create_dir_all(folder)?;
    let manifest = folder.join("package.json");
    if !manifest.exists() {
        fs::write(&manifest, "{\"private\":true}\n")?;
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", package]);
    output(npm.current_dir(folder))?;
    let named = package
        .rsplit_once('@')
        .filter(|(name, _)| !name.is_empty());
    let name = named.map_or(package, |(name, _)| name);
    let installed = folder.join("node_modules").join(name);
    let manifest = fs::read_to_string(installed.join("package.json"))?;
    let manifest: Value = serde_json::from_str(&manifest)?;
    let version = manifest["version"].as_str().unwrap_or("?").to_owned();
    Ok((installed, version))
}

/// What cargo built of this workspace, by its messages.
pub(crate) struct Built(Vec<Value>);

impl Built {
    /// Builds what the arguments of `cargo build` name.
    pub(crate) fn of(arguments: &str) -> anyhow::Result<Self> {
        let output = cargo("build")
            .args(["--message-format", "json"])
            .args(arguments.split(' '))
            .current_dir(root()?)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo cannot be started")?;
        ensure!(output.status.success(), "{arguments}: it does not build");
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().map(serde_json::from_str);
        Ok(Self(messages.filter_map(Result::ok).collect()))
    }

    /// Returns the program of a target.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.0.iter().find_map(|message| {
            let path = message["executable"].as_str()?;
            (message["target"]["name"] == name).then(|| PathBuf::from(path))
        });
        path.with_context(|| format!("cargo did not build `{name}`"))
    }

    /// Returns the folder that peers are installed in, beside the programs.
    pub(crate) fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let program = self.program(name)?;
        let mut folders = program.ancestors();
        let debug = folders.find(|folder| folder.ends_with("debug"));
        let target = debug
            .and_then(Path::parent)
            .with_context(|| format!("{name} is not below a target folder"))?;
        Ok(target.join("interop"))
    }
}

/// A program that ends with this.
pub(crate) struct RunningProcess(Child);

impl RunningProcess {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Starts a server, and waits until it says at which URL it listens, or can be reached at its port.
    pub(crate) fn listening(
        command: &mut Command,
        port: Option<u16>,
    ) -> anyhow::Result<(Self, String)> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut started = Self::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
            .with_context(|| format!("`{program}` cannot be started"))?;
        let (sender, lines) = std::sync::mpsc::channel();
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            started.0.stdout.take().map(|it| Box::new(it) as _),
            started.0.stderr.take().map(|it| Box::new(it) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let own = sender.clone();
            // Read to the end, so that nobody waits for room.
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = own.send(line);
                }
            });
        }
        drop(sender);
        let deadline = Instant::now() + PATIENCE;
        let mut last = String::new();
        while Instant::now() < deadline {
            if let Some(port) = port {
                if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Ok((started, format!("http://127.0.0.1:{port}/mcp")));
                }
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
            let Ok(line) = lines.recv_timeout(PATIENCE) else {
                break;
            };
            if let Some(url) = line.split_whitespace().find(|it| it.starts_with("http://")) {
                return Ok((started, url.to_owned()));
            }
            last = line;
        }
        bail!("`{program}` does not say where it listens; its last line: {last:?}")
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
