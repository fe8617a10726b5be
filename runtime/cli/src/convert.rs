//! `mcp-rev convert`: a value of one revision as one of another, with what was lost on the way.

use std::io::Read;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_registry::{
    Context, Failure, Loss, Outcome as Conversion, Policy, Revision, Session, Subject,
};
use mcp_wire::{Direction, ErrorObject, Json};
use serde_json::{Value, json};

use crate::Outcome;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The revision that the file is of
    #[arg(long, value_name = "ID")]
    from: Revision,
    /// The revision that it shall become one of
    #[arg(long, value_name = "ID")]
    to: Revision,
    /// The definition that the file is
    #[arg(
        long = "type",
        value_name = "NAME",
        conflicts_with = "method",
        required_unless_present = "method"
    )]
    ty: Option<String>,
    /// The method whose part the file is
    #[arg(long, value_name = "NAME", requires = "part")]
    method: Option<String>,
    /// Which part of the method's messages the file is
    #[arg(long, requires = "method")]
    part: Option<Part>,
    /// Who sends the method, where both sides can
    #[arg(long, requires = "method")]
    sender: Option<Sender>,
    /// What becomes of members that the older revision does not name
    #[arg(long, default_value = "strict")]
    policy: PolicyName,
    /// The version that a handshake settled, for requests on their way to a revision without one
    #[arg(long, value_name = "VERSION")]
    session_version: Option<String>,
    /// What the client said it can do in the handshake, as JSON
    #[arg(long, value_name = "JSON")]
    session_capabilities: Option<String>,
    /// Print value and losses as one JSON object
    #[arg(long)]
    json: bool,
    /// The file; `-` is standard input
    file: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    Params,
    Result,
    Error,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sender {
    Client,
    Server,
}

#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    Strict,
    Carry,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        from,
        to,
        ty,
        method,
        part,
        json,
        file,
        ..
    } = arguments;
    let text = match read(file) {
        Ok(text) => text,
        Err(error) => return Ok(unreadable(&error, *json)),
    };
    let cx = context(arguments)?;
    let direction = arguments.sender.map(|sender| match sender {
        Sender::Client => Direction::ClientToServer,
        Sender::Server => Direction::ServerToClient,
    });
    let converted = match (ty, method, part) {
        (Some(ty), _, _) => mcp_registry::convert(Subject::Type(ty), *from, *to, &text, cx),
        (None, Some(method), Some(Part::Error)) => error(method, *from, *to, &text, cx),
        (None, Some(method), part) => {
            let part = match part {
                Some(Part::Result) => mcp_registry::Part::Result,
                _ => mcp_registry::Part::Params,
            };
            mcp_registry::convert(
                Subject::Method(method, part, direction),
                *from,
                *to,
                &text,
                cx,
            )
        }
        (None, None, _) => bail!("say what the file is: --type, or --method with --part"),
    };
    Ok(match converted {
        Ok(conversion) => report(conversion, *json),
        Err(Failure::Unknown(what)) => {
            bail!("{what}; `mcp-rev types --revision {from}` lists what there is")
        }
        Err(Failure::Invalid(error)) => invalid(&error, *json),
    })
}

fn error(
    method: &str,
    from: Revision,
    to: Revision,
    text: &str,
    cx: Context,
) -> Result<Conversion<Json>, Failure> {
    let error: ErrorObject = mcp_wire::from_str(text).map_err(Failure::Invalid)?;
    Ok(mcp_registry::convert_error(method, from, to, error, cx).map(|error| Json::of(&error)))
}

fn context(arguments: &Arguments) -> anyhow::Result<Context> {
    let policy = match arguments.policy {
        PolicyName::Strict => Policy::Strict,
        PolicyName::Carry => Policy::Carry,
    };
    let capabilities = match &arguments.session_capabilities {
        Some(text) => Some(Json::from_text(text).context("--session-capabilities is not JSON")?),
        None => None,
    };
    Ok(Context::new(policy).with_session(Session {
        protocol_version: arguments.session_version.clone(),
        client_capabilities: capabilities,
    }))
}

fn read(file: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    match file {
        "-" => {
            std::io::stdin()
                .lock()
                .read_to_string(&mut text)
                .context("cannot read standard input")?;
        }
        file => {
            text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?
        }
    }
    Ok(text)
}

/// Exit codes: 0 exact, 4 lossy, 5 needs state, 6 rejected.
fn report(conversion: Conversion<Json>, as_json: bool) -> Outcome {
    let (status, code) = match &conversion {
        Conversion::Exact(_) => ("exact", 0),
        Conversion::Lossy(..) => ("lossy", 4),
        Conversion::NeedsState(_) => ("needs-state", 5),
        Conversion::Rejected(_) => ("rejected", 6),
        Conversion::Swallowed(_) => ("swallowed", 6),
    };
    let losses = conversion.losses().to_vec();
    let mut row = json!({ "status": status });
    let mut text = String::new();
    let note;
    match conversion {
        Conversion::Exact(value) | Conversion::Lossy(value, _) => {
            set(&mut row, "losses", losses.iter().map(loss).collect());
            note = losses.iter().map(|loss| format!("{loss}\n")).collect();
            // The value goes in as it is: its bytes are the user's.
            text = match as_json {
                true => row
                    .to_string()
                    .replacen('{', &format!("{{\"value\":{},", value.text()), 1),
                false => value.into_text(),
            };
        }
        Conversion::NeedsState(needs) => {
            set(&mut row, "adapter", needs.adapter.as_str().into());
            set(&mut row, "rule", needs.rule.into());
            set(&mut row, "hop", needs.hop.into());
            note = format!("{needs}\n");
        }
        Conversion::Rejected(error) => {
            note = format!("rejected: {} ({})\n", error.message, error.code);
            set(&mut row, "code", error.code.as_i64().into());
            set(&mut row, "message", error.message.into());
        }
        Conversion::Swallowed(rule) => {
            set(&mut row, "rule", rule.into());
            note = format!("swallowed: the other revision has no such notification ({rule})\n");
        }
    }
    if as_json && text.is_empty() {
        text = row.to_string();
    }
    if !text.is_empty() {
        text.push('\n');
    }
    if !as_json {
        eprint!("{note}");
    }
    Outcome { text, code }
}

/// Exit code 3, as of every subcommand.
fn unreadable(error: &anyhow::Error, as_json: bool) -> Outcome {
    let text = match as_json {
        true => format!(
            "{}\n",
            json!({ "status": "unreadable", "message": format!("{error:#}") })
        ),
        false => {
            eprintln!("error: {error:#}");
            String::new()
        }
    };
    Outcome { text, code: 3 }
}

fn invalid(error: &mcp_wire::Error, as_json: bool) -> Outcome {
    let text = match as_json {
        true => {
            let row = json!({
                "status": "invalid",
                "pointer": error.pointer(),
                "message": error.to_string(),
            });
            format!("{row}\n")
        }
        false => {
            eprintln!("error: not valid in the revision that it is said to be of: {error}");
            String::new()
        }
    };
    Outcome { text, code: 1 }
}

fn loss(loss: &Loss) -> Value {
    let value = loss
        .value
        .as_ref()
        .and_then(|value| value.parse::<Value>().ok());
    json!({
        "pointer": loss.pointer,
        "hop": loss.hop,
        "rule": loss.rule,
        "kind": loss.kind.as_str(),
        "change": loss.change.as_str(),
        "value": value,
    })
}

fn set(row: &mut Value, name: &str, value: Value) {
    if let Value::Object(row) = row {
        row.insert(name.to_owned(), value);
    }
}
