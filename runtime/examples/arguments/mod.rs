//! The command lines of the examples.

use mcp_revisions::RevisionSet;

/// The revisions that follow `--only`, separated by commas, if it stands there; and the rest of the arguments.
pub(crate) fn arguments() -> Result<(Option<RevisionSet>, Vec<String>), Box<dyn std::error::Error>>
{
    let (mut only, mut rest, mut arguments) = (None, Vec::new(), std::env::args().skip(1));
    while let Some(argument) = arguments.next() {
        if argument == "--only" {
            let ids = arguments
                .next()
                .ok_or("--only wants the ids of revisions, such as 2025-06-18,2026-07-28")?;
            only = Some(ids.split(',').map(str::parse).collect::<Result<_, _>>()?);
        } else {
            rest.push(argument);
        }
    }
    Ok((only, rest))
}
