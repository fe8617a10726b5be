//! The options about the tools that clients see.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use mcp_bridge::{Bridge, LockMode, ToolRules};
use mcp_lock::LockFile;
use tracing::warn;

/// The options of the tools.
#[derive(Args)]
#[command(next_help_heading = "Tools")]
pub(super) struct ToolArguments {
    /// Show clients only the tools whose name fits this pattern, in which `*` stands for any text; repeatable
    ///
    /// Calls of other tools get an error. With --combine, the names are those with a prefix, such as `git_*`.
    #[arg(long, value_name = "PATTERN")]
    allow_tool: Vec<String>,
    /// Hide the tools whose name fits this pattern; repeatable, and stronger than --allow-tool
    #[arg(long, value_name = "PATTERN")]
    deny_tool: Vec<String>,
    /// Show a tool under another name; repeatable. A file of servers has `tools` for this
    #[arg(long, value_name = "TOOL=NAME", value_parser = pair, conflicts_with = "config")]
    rename_tool: Vec<(String, String)>,
    /// Show a tool with this description; repeatable. A file of servers has `tools` for this
    #[arg(long, value_name = "TOOL=TEXT", value_parser = pair, conflicts_with = "config")]
    describe_tool: Vec<(String, String)>,
    /// Show the tools that fit a pattern only to clients whose access token has this scope; repeatable
    #[arg(long, value_name = "SCOPE=PATTERN", value_parser = pair, requires = "guard")]
    tool_for_scope: Vec<(String, String)>,
    /// Show the tools that fit a pattern only to the subject of this name in an access token; repeatable
    #[arg(long, value_name = "SUBJECT=PATTERN", value_parser = pair, requires = "guard")]
    tool_for_subject: Vec<(String, String)>,
    /// Keep from clients what differs from this lock file, which `mcp-rev lock` writes: tools, prompts, resources, instructions
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// With --lock: pass what differs and log it, leave it out, or refuse lists and calls of it
    #[arg(long, value_name = "MODE", default_value = "refuse", requires = "lock")]
    lock_mode: LockModeArgument,
}

/// The treatment of what differs from a lock.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LockModeArgument {
    Warn,
    Hide,
    Refuse,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected two texts with `=` between them".to_owned()),
    }
}

impl ToolArguments {
    /// Returns the bridge to a server with the lock of it, if there is a lock file. Returns an error for a file that cannot be
    /// read, and if it does not have the server and that is more than a warning.
    pub(super) fn locked(&self, bridge: Bridge, name: &str) -> anyhow::Result<Bridge> {
        let Some(file) = &self.lock else {
            return Ok(bridge);
        };
        let shown = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        let lock = LockFile::parse(&text).with_context(|| shown.to_string())?;
        let mode = match self.lock_mode {
            LockModeArgument::Warn => LockMode::Warn,
            LockModeArgument::Hide => LockMode::Hide,
            LockModeArgument::Refuse => LockMode::Refuse,
        };
        match lock.server(name) {
            Some(offer) => Ok(bridge.with_lock(offer.clone(), mode)),
            None if mode == LockMode::Warn => {
                warn!(server = name, "{shown} does not have it");
                Ok(bridge)
            }
            None => anyhow::bail!("{shown} does not have the server {name}"),
        }
    }

    /// Returns the rules that the options make.
    pub(super) fn rules(&self) -> ToolRules {
        let mut rules = ToolRules::new();
        for pattern in &self.allow_tool {
            rules = rules.allow(pattern);
        }
        for pattern in &self.deny_tool {
            rules = rules.deny(pattern);
        }
        for (tool, name) in &self.rename_tool {
            rules = rules.rename(tool, name);
        }
        for (tool, text) in &self.describe_tool {
            rules = rules.describe(tool, text);
        }
        for (scope, pattern) in &self.tool_for_scope {
            rules = rules.only_with_scope(scope, pattern);
        }
        for (subject, pattern) in &self.tool_for_subject {
            rules = rules.only_for(subject, pattern);
        }
        rules
    }
}
