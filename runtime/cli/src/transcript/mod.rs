//! `mcp-rev transcript`: validates a recorded session, and reports what it would lose with another revision.

mod calls;
mod finding;
pub(crate) mod line;
mod other;
mod report;
mod said;
pub(crate) mod talk;

use std::io::Read as _;

use clap::Args;
use mcp_revisions_core::Revision;
use mcp_wire::Direction;

use crate::SubcommandOutcome;
use finding::FindingKind;
use other::Other;
use talk::Talk;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Also report what would be lost if one end spoke this protocol revision
    #[arg(long = "as", value_name = "ID")]
    other: Option<Revision>,
    /// Print one JSON object per line: each finding, each loss, and a summary
    #[arg(long)]
    json: bool,
    /// Recorded session, of `tap --record` or `bridge --record`; `-` is standard input
    file: String,
}

/// Returns the side that sends in this direction, as output names it.
fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    let Arguments { other, json, file } = arguments;
    let text = match read(file) {
        Ok(text) => text,
        Err(error) => {
            crate::stderr::print_error(format_args!("cannot read {file}: {error}"));
            return Ok(SubcommandOutcome {
                text: String::new(),
                code: 3,
            });
        }
    };
    let mut talk = Talk::default();
    let mut other = other.map(Other::new);
    let mut count = 0;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if let Some(count) = line::read_gap(line) {
            let told = format!("messages that are missing in the record: {count}");
            talk.findings.add(number, FindingKind::Gap, "", "", &told);
            continue;
        }
        match line::read(line) {
            Ok(None) => {}
            Err(told) => talk.findings.add(number, FindingKind::Line, "", "", &told),
            Ok(Some(line)) => {
                count += 1;
                for said in talk.hears(number, line.at, line.direction, &line.text) {
                    if let Some(other) = &mut other {
                        other.look(&said, &talk);
                    }
                }
            }
        }
    }
    talk.ends();
    let code = match (talk.findings.is_empty(), &other) {
        (false, _) => 1,
        (true, Some(other)) => other.code(),
        (true, None) => 0,
    };
    let report = report::Report {
        file,
        count,
        talk: &talk,
        other: other.as_ref(),
    };
    Ok(if *json {
        let text = report.json();
        SubcommandOutcome { text, code }
    } else {
        SubcommandOutcome::for_people(&report.text(), code)
    })
}

fn read(file: &str) -> std::io::Result<String> {
    match file {
        "-" => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            Ok(text)
        }
        file => std::fs::read_to_string(file),
    }
}
