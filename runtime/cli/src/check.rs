//! `mcp-rev check`: reads each input, writes it back, and compares.

use std::io::Read;
use std::path::Path;

use anyhow::bail;
use clap::Args;
use mcp_revisions_core::{Diagnostic, Protocol};

use crate::SubcommandOutcome;
use crate::message;
use crate::report::{CheckResult, CheckVerdict};
use crate::revisions::{known_methods, known_type, similar};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Protocol revision to validate against, or an extension with the revision that it rests on
    #[arg(long, value_name = "ID")]
    revision: Protocol,
    /// Read each file as this definition of the schema
    #[arg(long = "type", value_name = "NAME", conflicts_with = "method")]
    ty: Option<String>,
    /// Read each file as a message of this method, or as a response to it
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Print one JSON object per input
    #[arg(long)]
    json: bool,
    /// Maximum size of a file, in bytes; a larger one is not checked, and the exit code is 3
    #[arg(long, value_name = "N", default_value_t = 64 * 1024 * 1024)]
    max_bytes: u64,
    /// Files to check, each one JSON text or JSON Lines; `-` is standard input
    #[arg(required = true)]
    files: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    let Arguments {
        revision,
        ty,
        method,
        json,
        max_bytes,
        files,
    } = arguments;
    let revision = revision.revision();
    let ty = match ty {
        None => None,
        Some(name) => match known_type(revision, name) {
            Some(ty) => Some(ty),
            None => bail!(
                "revision {revision} has no type `{name}`{}; `mcp-rev list types {revision}` lists all",
                similar(name, revision.types().iter().map(|ty| ty.name))
            ),
        },
    };
    if let Some(name) = method
        && known_methods(revision, name).next().is_none()
    {
        bail!(
            "revision {revision} has no method `{name}`{}; `mcp-rev list methods {revision}` lists all",
            similar(name, revision.methods().iter().map(|method| method.name))
        );
    }
    let mut text = String::new();
    let mut code = 0;
    for file in files {
        let bytes = match read(file, *max_bytes) {
            Err(error) => {
                crate::stderr::print_error(format_args!("cannot read {file}: {error}"));
                code = 3;
                if *json {
                    let expected = "a file that can be read".to_owned();
                    let problem = Diagnostic::new("", expected, error.to_string());
                    text.push_str(&no_text(problem).json(file));
                }
                continue;
            }
            Ok(bytes) => bytes,
        };
        let checked = |content: &str| match ty {
            Some(ty) => vec![message::as_type(ty, content)],
            None => message::as_message(revision, method.as_deref(), content),
        };
        let findings = match utf8(&bytes) {
            Err(problem) => vec![(file.clone(), no_text(problem))],
            Ok(content) => inputs(file, content)
                .flat_map(|(name, content)| {
                    let findings = checked(content).into_iter();
                    findings.map(move |finding| (name.clone(), finding))
                })
                .collect(),
        };
        for (name, finding) in findings {
            if !finding.is_ok() {
                code = code.max(1);
            }
            text.push_str(&if *json {
                finding.json(&name)
            } else {
                finding.line(&name)
            });
        }
    }
    Ok(if *json {
        SubcommandOutcome { text, code }
    } else {
        SubcommandOutcome::for_people(&text, code)
    })
}

/// Returns the text of a file as one input, or each of its lines that is not empty where every line is one: `FILE:LINE`.
fn inputs<'c>(file: &str, content: &'c str) -> impl Iterator<Item = (String, &'c str)> {
    let lines = || {
        let lines = content.lines().enumerate();
        lines.filter(|(_, line)| !line.trim().is_empty())
    };
    let is_json = |text: &str| mcp_wire::Json::from_text(text).is_ok();
    // A first line that is JSON by itself begins no text of several lines.
    let many = !is_json(content)
        && lines().nth(1).is_some()
        && lines().take(1).all(|(_, line)| is_json(line));
    let whole = (!many).then(|| (file.to_owned(), content));
    let each = lines()
        .filter(move |_| many)
        .map(|(index, line)| (format!("{file}:{}", index + 1), line));
    whole.into_iter().chain(each.collect::<Vec<_>>())
}

/// Reads a file of at most so many bytes.
fn read(file: &str, most: u64) -> std::io::Result<Vec<u8>> {
    let input: Box<dyn Read> = match file {
        "-" => Box::new(std::io::stdin().lock()),
        file => Box::new(std::fs::File::open(Path::new(file))?),
    };
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|count| count <= most) {
        return Ok(bytes);
    }
    let problem = format!("it is larger than {most} bytes; raise --max-bytes to check it");
    Err(std::io::Error::new(
        std::io::ErrorKind::FileTooLarge,
        problem,
    ))
}

/// Reads bytes as UTF-8; the error is that of the reader which the types use.
fn utf8(bytes: &[u8]) -> Result<&str, Diagnostic> {
    std::str::from_utf8(bytes).map_err(|_| match mcp_wire::from_slice::<mcp_wire::Json>(bytes) {
        Err(error) => Diagnostic::of_error("", &error),
        Ok(_) => Diagnostic::new("", "UTF-8".to_owned(), "other bytes".to_owned()),
    })
}

fn no_text(diagnostic: Diagnostic) -> CheckResult {
    CheckResult {
        read_as: "text".to_owned(),
        verdict: CheckVerdict::Refused(diagnostic),
    }
}
