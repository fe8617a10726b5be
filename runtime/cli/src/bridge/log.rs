//! The log of the bridge, on standard error: standard output is the protocol's.

use std::str::FromStr;

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::debug_fn;

use mcp_wire::{EXCERPT, excerpt};

use super::json_log::{JsonLines, MESSAGE};
use crate::stderr;

/// Environment variable with the log level, for when no option gives one.
const VARIABLE: &str = "MCP_REV_LOG";

#[derive(Debug, Clone, Copy)]
pub(crate) struct LogLevelArgument(LevelFilter);

impl FromStr for LogLevelArgument {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let wrong =
            |_| format!("unknown level `{name}`: expected off, error, warn, info, debug or trace");
        name.parse().map(Self).map_err(wrong)
    }
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// An object per line, with `timestamp`, `level` and `message`
    Json,
}

/// Begins to log; an option wins over the environment. Returns an error for a text in the environment that is not a level.
pub(super) fn begin(level: Option<LogLevelArgument>, format: LogFormat) -> Result<(), String> {
    let said = std::env::var(VARIABLE).ok().filter(|said| !said.is_empty());
    let level = match (level, said) {
        (Some(level), _) => level,
        (None, Some(said)) => (said.parse()).map_err(|why| format!("{VARIABLE}: {why}"))?,
        (None, None) => LogLevelArgument(LevelFilter::INFO),
    };
    let colours = crate::colour::is_on(std::io::stderr());
    // A field, and a part of a message, may be a peer's text: it is cut, and stays within its line.
    let fields = debug_fn(|to, field, value| {
        let value = format!("{value:?}");
        match field.name() {
            "message" => write!(to, "{}", excerpt(&value, MESSAGE)),
            name => write!(to, "{name}={}", excerpt(&value, EXCERPT)),
        }
    })
    .delimited(" ");
    if format == LogFormat::Json {
        let _ = tracing_subscriber::fmt()
            .with_max_level(level.0)
            .with_writer(|| stderr::StderrLines)
            .log_internal_errors(false)
            .event_format(JsonLines)
            .try_init();
        return Ok(());
    }
    let _ = tracing_subscriber::fmt()
        .with_max_level(level.0)
        .with_writer(|| stderr::StderrLines)
        .fmt_fields(fields)
        .with_ansi(colours)
        .with_target(false)
        // Nobody may be reading any more.
        .log_internal_errors(false)
        .try_init();
    Ok(())
}
