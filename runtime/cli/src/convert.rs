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
    /// What the client said it can do in the handshake, as JSON, for requests to a revision without one
    #[arg(long, value_name = "JSON")]
    session_capabilities: Option<String>,
    /// Which client it is, as it said in the handshake, as JSON
    #[arg(long, value_name = "JSON")]
    session_client: Option<String>,
    /// The id of the stream that a notification of a change goes to, as JSON
    #[arg(long, value_name = "ID")]
    session_subscription: Option<String>,
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
    let json = |option: &str, text: &Option<String>| match text {
        Some(text) => Json::from_text(text)
            .map(Some)
            .with_context(|| format!("--{option} is not JSON")),
        None => Ok(None),
    };
    Ok(Context::new(policy).with_session(Session {
        client_capabilities: json("session-capabilities", &arguments.session_capabilities)?,
        client_info: json("session-client", &arguments.session_client)?,
        subscription_id: json("session-subscription", &arguments.session_subscription)?,
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

/// Exit codes: 0 exact or reversible, 4 lossy, 5 needs state, 6 rejected or swallowed.
fn report(conversion: Conversion<Json>, as_json: bool) -> Outcome {
    let (status, code) = match &conversion {
        Conversion::Exact(_) => ("exact", 0),
        Conversion::Reversible(..) => ("reversible", 0),
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
        Conversion::Exact(value)
        | Conversion::Reversible(value, _)
        | Conversion::Lossy(value, _) => {
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
            note = format!("{needs}\n");
            set(&mut row, "adapter", needs.adapter.as_str().into());
            stopped(&mut row, needs.rule, needs.hop, needs.pointer);
        }
        Conversion::Rejected(rejected) => {
            note = format!("{rejected}\n");
            set(&mut row, "code", rejected.error.code.as_i64().into());
            set(&mut row, "message", rejected.error.message.into());
            stopped(&mut row, rejected.rule, rejected.hop, rejected.pointer);
        }
        Conversion::Swallowed(swallowed) => {
            note = format!("{swallowed}\n");
            stopped(&mut row, swallowed.rule, swallowed.hop, swallowed.pointer);
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

/// Whatever the outcome, it names rule, hop and place.
fn stopped(row: &mut Value, rule: &str, hop: &str, pointer: String) {
    set(row, "rule", rule.into());
    set(row, "hop", hop.into());
    set(row, "pointer", pointer.into());
}

fn loss(loss: &Loss) -> Value {
    let value = loss.value().and_then(|value| value.parse::<Value>().ok());
    json!({
        "pointer": loss.pointer(),
        "hop": loss.hop,
        "rule": loss.rule(),
        "kind": loss.kind().as_str(),
        "change": loss.change.as_str(),
        "value": value,
    })
}

fn set(row: &mut Value, name: &str, value: Value) {
    if let Value::Object(row) = row {
        row.insert(name.to_owned(), value);
    }
}
