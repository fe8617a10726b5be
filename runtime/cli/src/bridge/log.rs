//! What the bridge tells of its work, on standard error: standard output is the protocol's.

use std::str::FromStr;

use tracing::level_filters::LevelFilter;

/// Environment variable with the log level, for when no option gives one.
const VARIABLE: &str = "MCP_REV_LOG";

/// Level of the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level(LevelFilter);

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let wrong =
            |_| format!("unknown level `{name}`: expected off, error, warn, info, debug or trace");
        name.parse().map(Self).map_err(wrong)
    }
}

/// Begins to tell; an option wins over the environment.
///
/// # Errors
/// A level in the environment that is none.
pub(super) fn begin(level: Option<Level>) -> Result<(), String> {
    let said = std::env::var(VARIABLE).ok().filter(|said| !said.is_empty());
    let level = match (level, said) {
        (Some(level), _) => level,
        (None, Some(said)) => (said.parse()).map_err(|why| format!("{VARIABLE}: {why}"))?,
        (None, None) => Level(LevelFilter::INFO),
    };
    let colours = crate::colour::is_on(std::io::stderr());
    // Whoever has begun already goes on.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level.0)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .with_target(false)
        // Nobody may be reading any more.
        .log_internal_errors(false)
        .try_init();
    Ok(())
}
