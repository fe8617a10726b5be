//! The peers: where they come from, how they are installed, and how each opens a connection.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::process::{self, npm_install, output};
use crate::workspace::root;

/// What a peer is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteropRole {
    /// It calls the example servers.
    Client,
    /// The example client calls it.
    Server,
}

impl fmt::Display for InteropRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// Where a peer comes from.
#[derive(Debug, Clone, Copy)]
enum PeerSource {
    /// A package of npm, and the script that uses it.
    Npm(&'static str, &'static str),
    /// A package of PyPI, and the script that uses it.
    PyPi(&'static str, &'static str),
    /// Packages of PyPI of certain versions, the first of which is the peer, and the script that uses it.
    OldPyPi(&'static [&'static str], &'static str),
    /// A crate of which the latest version is built, and the binary that uses it.
    Cargo(&'static str, &'static str),
}

/// A way to open a connection.
#[derive(Debug)]
pub(super) struct Mode {
    /// What the peer calls it.
    pub(super) name: &'static str,
    /// The revisions that can be reached by it; none said where that is every one.
    revisions: Option<&'static [&'static str]>,
}

const fn mode(name: &'static str, revisions: &'static [&'static str]) -> Mode {
    let revisions = Some(revisions);
    Mode { name, revisions }
}

const fn any(name: &'static str) -> Mode {
    let revisions = None;
    Mode { name, revisions }
}

impl Mode {
    /// Returns whether a revision can be reached by it over a channel.
    pub(super) fn reaches(&self, revision: &str, channel: &str) -> bool {
        let has_sessions = LEGACY.contains(&revision);
        let reached = self.revisions;
        (channel != "sse" || has_sessions)
            && reached.is_none_or(|revisions| revisions.contains(&revision))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerTasks {
    /// Those of this revision, which it is tried with.
    Of(&'static str),
    /// None that could be tried, and why.
    None(&'static str),
}

impl fmt::Display for PeerTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(revision) => write!(f, "tasks of {revision}"),
            Self::None(why) => write!(f, "no tasks: {why}"),
        }
    }
}

/// An implementation of others.
#[derive(Debug, Clone)]
pub(super) struct InteropPeer {
    pub(super) name: &'static str,
    pub(super) role: InteropRole,
    pub(super) modes: &'static [Mode],
    /// What it is tried over; `sse` is the transport of 2024-11-05.
    pub(super) channels: &'static [&'static str],
    pub(super) tasks: PeerTasks,
    source: PeerSource,
}

const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &[&str] = &["2026-07-28"];

pub(super) fn all() -> [InteropPeer; 7] {
    const BOTH: &[&str] = &["stdio", "http"];
    const ALL: &[&str] = &["stdio", "http", "sse"];
    const SSE: &[&str] = &["sse"];
    const HANDSHAKE: &[Mode] = &[mode("initialize", LEGACY)];
    const NAMED: &[Mode] = &[
        mode("legacy", LEGACY),
        mode("2026-07-28", MODERN),
        any("auto"),
    ];
    const RMCP: &[Mode] = &[
        mode("initialize", LEGACY),
        mode("discover", MODERN),
        any("auto"),
    ];
    const OURS: &[Mode] = &[any("server/discover")];
    let peer = |name, role, modes, channels, tasks, source| InteropPeer {
        name,
        role,
        modes,
        channels,
        tasks,
        source,
    };
    [
        peer(
            "TypeScript SDK",
            InteropRole::Client,
            HANDSHAKE,
            ALL,
            PeerTasks::Of("2025-11-25"),
            PeerSource::Npm("@modelcontextprotocol/sdk@1", "typescript-1.mjs"),
        ),
        peer(
            "TypeScript client",
            InteropRole::Client,
            NAMED,
            BOTH,
            PeerTasks::None("it sends no `tasks/get`"),
            PeerSource::Npm("@modelcontextprotocol/client@2", "typescript-2.mjs"),
        ),
        peer(
            "Python SDK",
            InteropRole::Client,
            NAMED,
            ALL,
            PeerTasks::None("the package has none"),
            PeerSource::PyPi("mcp", "python_client.py"),
        ),
        peer(
            "rmcp",
            InteropRole::Client,
            RMCP,
            BOTH,
            PeerTasks::Of("2026-07-28"),
            PeerSource::Cargo("rmcp", "client"),
        ),
        peer(
            "rmcp",
            InteropRole::Server,
            OURS,
            &["stdio"],
            PeerTasks::Of("2026-07-28"),
            PeerSource::Cargo("rmcp", "server"),
        ),
        peer(
            "TypeScript SDK",
            InteropRole::Server,
            OURS,
            SSE,
            PeerTasks::None("its tools here run in every revision, and those with tasks would not"),
            PeerSource::Npm("@modelcontextprotocol/sdk@1", "typescript-sse-server.mjs"),
        ),
        peer(
            "Python SDK",
            InteropRole::Server,
            OURS,
            SSE,
            PeerTasks::None("the package has none"),
            PeerSource::PyPi("mcp", "python_sse_server.py"),
        ),
    ]
}

/// Returns the last version of an SDK that knew no newer revision than the last one of these, for what is tried with old ones
/// alone.
pub(super) fn old() -> [InteropPeer; 5] {
    const FIRST: &[Mode] = &[mode("initialize", &["2024-11-05"])];
    const SECOND: &[Mode] = &[mode("initialize", &["2024-11-05", "2025-03-26"])];
    const THIRD: &[Mode] = &[mode(
        "initialize",
        &["2024-11-05", "2025-03-26", "2025-06-18"],
    )];
    let old = |name, modes, source| InteropPeer {
        name,
        role: InteropRole::Client,
        modes,
        channels: &["stdio", "http"],
        tasks: PeerTasks::None("it knows no revision with tasks"),
        source,
    };
    let typescript = |modes, package| {
        let source = PeerSource::Npm(package, "typescript-1.mjs");
        old("old TypeScript SDK", modes, source)
    };
    // What they use of pydantic is gone from newer ones.
    let python = |modes, packages| {
        let source = PeerSource::OldPyPi(packages, "python_1.py");
        old("old Python SDK", modes, source)
    };
    [
        typescript(FIRST, "@modelcontextprotocol/sdk@1.9.0"),
        typescript(SECOND, "@modelcontextprotocol/sdk@1.12.3"),
        typescript(THIRD, "@modelcontextprotocol/sdk@1.22.0"),
        python(SECOND, &["mcp==1.9.4", "pydantic<2.12"]),
        python(THIRD, &["mcp==1.12.4", "pydantic<2.12"]),
    ]
}

/// A peer that can be started.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) role: InteropRole,
    pub(super) version: String,
    pub(super) program: PathBuf,
    /// Arguments before all others.
    pub(super) arguments: Vec<PathBuf>,
}

/// The version, the program, and its script, if it has one.
pub(super) type Found = (String, PathBuf, Option<PathBuf>);

/// Installs the latest version of a peer into a folder of its own.
pub(super) fn install(peer: &InteropPeer, folder: &Path) -> anyhow::Result<Installed> {
    let scripts = root()?.join("tests/interop");
    let (version, program, script) = match peer.source {
        PeerSource::Npm(package, script) => npm(package, script, &scripts, folder)?,
        PeerSource::PyPi(package, script) => {
            copy_to(&scripts.join(script), &folder.join("python"))?;
            pypi(&[package], script, &folder.join("python"))?
        }
        PeerSource::OldPyPi(packages, script) => {
            let home = folder.join(packages.first().context("no package")?);
            copy_to(&scripts.join("bridge").join(script), &home)?;
            pypi(packages, script, &home)?
        }
        PeerSource::Cargo(name, binary) => cargo(name, binary, &scripts, folder)?,
    };
    Ok(Installed {
        role: peer.role,
        version,
        program,
        arguments: script.into_iter().collect(),
    })
}

fn npm(package: &str, script: &str, scripts: &Path, folder: &Path) -> anyhow::Result<Found> {
    output(Command::new("node").arg("--version"))?;
    // Versions that are named exactly have a folder each.
    let (_, version) = package.rsplit_once('@').unwrap_or((package, ""));
    let stem = script.trim_end_matches(".mjs");
    let folder = if version.contains('.') {
        folder.join(format!("{stem}-{version}"))
    } else {
        folder.join(stem)
    };
    let (_, version) = npm_install(package, &folder)?;
    for file in [script, "steps.mjs"] {
        copy(&scripts.join(file), &folder.join(file))?;
    }
    Ok((version, "node".into(), Some(folder.join(script))))
}

/// Installs packages of PyPI into a folder's environment; the version is that of the first.
pub(super) fn pypi(packages: &[&str], script: &str, folder: &Path) -> anyhow::Result<Found> {
    let program = folder.join("venv/bin/python");
    if !program.exists() {
        let mut python = Command::new("python3");
        output(python.args(["-m", "venv", "venv"]).current_dir(folder))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--upgrade"];
    output(Command::new(&program).args(install).args(packages))?;
    let requirement = packages.first().context("no package")?;
    let package = requirement.split('=').next().unwrap_or(requirement);
    let ask = format!("import importlib.metadata as m; print(m.version('{package}'))");
    let printed = output(Command::new(&program).args(["-c", &ask]))?;
    let version = printed.trim().to_owned();
    Ok((version, program, Some(folder.join(script))))
}

/// Builds a program of a crate of ours that uses a package; the version is that of the package.
pub(super) fn cargo(
    name: &str,
    binary: &str,
    scripts: &Path,
    folder: &Path,
) -> anyhow::Result<Found> {
    let home = folder.join(name);
    fs::create_dir_all(home.join("src/bin"))?;
    let source = format!("src/bin/{binary}.rs");
    for file in ["Cargo.toml", &*source] {
        copy(&scripts.join(name).join(file), &home.join(file))?;
    }
    let target = home.join("target");
    let cargo = |command: &str, arguments: &[&str]| {
        let mut command = process::cargo(command);
        command.args(arguments).current_dir(&home);
        output(command.env("CARGO_TARGET_DIR", &target))
    };
    cargo("update", &[])?;
    cargo("build", &["--bin", binary])?;
    let package = cargo("pkgid", &[name])?;
    let version = package.trim().rsplit(['@', '#']).next().unwrap_or("?");
    Ok((version.to_owned(), target.join("debug").join(binary), None))
}

/// Copies a file into a folder, which is made.
fn copy_to(from: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    copy(from, &folder.join(from.file_name().context("no name")?))
}

pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {}", from.display()))
        .map(drop)
}
