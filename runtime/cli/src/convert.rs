//! `mcp-rev convert`: a value of one revision as one of another, with what was lost on the way.

use std::io::Read;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_revisions_core::{
    Context, Extension, Failure, Lifecycle, Loss, Outcome as Conversion, Revision, Session,
    Subject, UnknownFields,
};
use mcp_revisions_core::{
    ConvertedMessages, Diagnostic, MessageContext, MessageError, Protocol, Route, check_answered,
    check_definition, convert_bare, convert_messages, is_bare, read_messages, whole_message,
};
use mcp_wire::{Direction, ErrorObject, Json, Map};
use serde_json::json;

use crate::SubcommandOutcome;
use crate::revisions::{similar, way};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Protocol revision of the input, or an extension: `tasks`
    #[arg(long, value_name = "ID")]
    from: Protocol,
    /// Protocol revision of the output, or an extension
    #[arg(long, value_name = "ID")]
    to: Protocol,
    /// Read the file as this definition of the schema [default: a whole message, or a batch]
    #[arg(long = "type", value_name = "NAME", conflicts_with = "part")]
    ty: Option<String>,
    /// Method of the request that a response answers, or whose part the file is
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Read the file as this part of a message of --method
    #[arg(long, requires = "method")]
    part: Option<PartArgument>,
    /// Sender of the method, for methods of both sides
    #[arg(long)]
    sender: Option<SenderArgument>,
    /// Drop or preserve fields that only the newer revision defines
    #[arg(long, default_value = "drop")]
    unknown_fields: UnknownFieldsArgument,
    /// Client capabilities of the session, as JSON, for requests to a revision without a handshake
    #[arg(long, value_name = "JSON")]
    session_capabilities: Option<String>,
    /// Client `Implementation` of the session, as JSON
    #[arg(long, value_name = "JSON")]
    session_client: Option<String>,
    /// Subscription id of a change notification, as JSON
    #[arg(long, value_name = "ID")]
    session_subscription: Option<String>,
    /// Print one JSON object per message, with status, value and losses
    #[arg(long)]
    json: bool,
    /// File to convert; `-` is standard input
    file: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum PartArgument {
    Params,
    Result,
    Error,
}

#[derive(Clone, Copy, ValueEnum)]
enum SenderArgument {
    Client,
    Server,
}

/// The policy for fields that only the newer revision defines.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum UnknownFieldsArgument {
    /// Leave them out, and report a loss
    Drop,
    /// Pass them on as unknown fields
    Preserve,
}

impl From<UnknownFieldsArgument> for UnknownFields {
    fn from(fields: UnknownFieldsArgument) -> Self {
        match fields {
            UnknownFieldsArgument::Drop => Self::Drop,
            UnknownFieldsArgument::Preserve => Self::Preserve,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
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
    // A candidate is the revision that it became, as far as its values read as that.
    let (start, end) = (from.stand_in(), to.stand_in());
    let route = &Route::between(start, end)?;
    let cx = context(arguments, start, end)?;
    let direction = arguments.sender.map(|sender| match sender {
        SenderArgument::Client => Direction::ClientToServer,
        SenderArgument::Server => Direction::ServerToClient,
    });
    let unknown = |what: String| {
        let kind = if ty.is_some() { "types" } else { "methods" };
        let is_to = what.ends_with(&format!(" in {to}"));
        let (option, lacking) = if is_to { ("to", to) } else { ("from", from) };
        let name = what.split('`').nth(1).unwrap_or_default();
        let has_it = |one: &Protocol| one.names(ty.is_some()).contains(&name);
        let mut extensions = Extension::of(lacking.revision()).map(Protocol::Extension);
        if let (Protocol::Revision(_), Some(extension)) = (lacking, extensions.find(has_it)) {
            return format!("{what}; the extension has it: use --{option} {extension}");
        }
        // A part of the source is missing in the target, where another name would be another thing.
        let near = if has_it(from) {
            String::new()
        } else {
            similar(name, from.names(ty.is_some()).into_iter())
        };
        format!("{what}{near}; `mcp-rev list {kind} {lacking}` lists all")
    };
    let stands_in = from.revision() != start.revision();
    let whole = match (ty, part) {
        (None, None) => Some(None),
        (Some(ty), None) => whole_message(*from, ty),
        _ => None,
    };
    if let (Some(ty), None) = (ty, whole) {
        for (option, is_there) in [
            ("method", method.is_some()),
            ("sender", direction.is_some()),
        ] {
            if is_there {
                bail!("--{option} cannot be used with --type {ty}: the type is not a message");
            }
        }
    }
    if let (Some(ty), true) = (ty, stands_in || whole.is_some())
        && let Err(error) = check_definition(*from, ty, &text)
    {
        return Ok(invalid(*from, &Diagnostic::of_error("", &error), "", *json));
    }
    let failed = |error: MessageError| match &error {
        MessageError::Unknown(what) => Err(anyhow::anyhow!(unknown(what.clone()))),
        MessageError::Invalid(diagnostic) => Ok(invalid(*from, diagnostic, "", *json)),
        MessageError::UnknownRequest => Err(anyhow::anyhow!("{error}: give --method")),
        MessageError::UnknownSender(_) => Err(anyhow::anyhow!("{error}: give --sender")),
    };
    if let Some(named) = whole {
        let context = MessageContext::new(cx)
            .answering(method.as_deref().or(named))
            .sent_by(direction);
        if ty.is_some() && is_bare(&text) {
            return match convert_bare(&text, route, &context) {
                Ok(outcome) => Ok(report(outcome, *json)),
                Err(error) => failed(error),
            };
        }
        let messages = match read_messages(&text) {
            Ok(messages) => messages,
            Err(diagnostic) => {
                let cure = if ty.is_none() { OTHERWISE } else { "" };
                return Ok(invalid(*from, &diagnostic, cure, *json));
            }
        };
        return match convert_messages(&messages, route, &context) {
            Ok(converted) => Ok(report_messages(converted, *json)),
            Err(error) => failed(error),
        };
    }
    let converted = match (ty, method, part) {
        (None, Some(method), Some(PartArgument::Error)) => {
            if let Err(error) = check_answered(route, method) {
                return failed(error);
            }
            convert_error(method, route, &text, cx)
        }
        (None, Some(method), part) => {
            let part = match part {
                Some(PartArgument::Result) => mcp_revisions_core::Part::Result,
                _ => mcp_revisions_core::Part::Params,
            };
            let subject = Subject::Method(method, part, direction);
            route.convert_part(subject, &text, cx)
        }
        (Some(ty), _, _) => route.convert_part(Subject::Type(ty), &text, cx),
        (None, None, _) => bail!("give --type, or --method with --part"),
    };
    match converted {
        Ok(conversion) => Ok(report(conversion, *json)),
        Err(error) => failed(error),
    }
}

/// Returns the messages that go on, and what became of each; the worst outcome gives the exit code.
fn report_messages(converted: ConvertedMessages, as_json: bool) -> SubcommandOutcome {
    if converted.messages.len() == 1 && !converted.is_batch {
        let mut messages = converted.messages;
        return match messages.pop() {
            Some((_, outcome)) => report(outcome, as_json),
            None => SubcommandOutcome {
                text: String::new(),
                code: 0,
            },
        };
    }
    let mut text = if as_json {
        String::new()
    } else {
        converted.text()
    };
    if !text.is_empty() {
        text.push('\n');
    }
    let mut code = 0;
    for (place, outcome) in converted.messages {
        if !as_json {
            let exact = if outcome.is_exact() { "exact\n" } else { "" };
            crate::stderr::tell(&format!("{place}: {exact}"));
        }
        let one = report(outcome, as_json);
        code = code.max(one.code);
        if as_json {
            text.push_str(&one.text);
        }
    }
    SubcommandOutcome { text, code }
}

fn convert_error(
    method: &str,
    route: &Route,
    text: &str,
    cx: Context,
) -> Result<Conversion<Json>, MessageError> {
    let error: ErrorObject = mcp_wire::from_str(text).map_err(Failure::Invalid)?;
    Ok((route.convert_error(method, error, cx)).map(|error| Json::of(&error)))
}

/// Returns the context, with what the options say of a session: each is read, and converted to the revision that needs it.
fn context(arguments: &Arguments, from: Protocol, to: Protocol) -> anyhow::Result<Context> {
    let policy = UnknownFields::from(arguments.unknown_fields);
    let (from, to) = (from.revision(), to.revision());
    let stands_alone = |revision: &Revision| revision.lifecycle() == Lifecycle::PerRequest;
    let first = way(from, to).into_iter().find(stands_alone);
    let told = |option: &str, name: &str, text: &Option<String>| match text {
        Some(text) => {
            converted(option, name, text, (from, first.unwrap_or(from)), policy).map(Some)
        }
        None => Ok(None),
    };
    Ok(Context::new(policy).with_session(Session {
        client_capabilities: told(
            "session-capabilities",
            "ClientCapabilities",
            &arguments.session_capabilities,
        )?,
        client_info: told(
            "session-client",
            "Implementation",
            &arguments.session_client,
        )?,
        subscription_id: told(
            "session-subscription",
            "RequestId",
            &arguments.session_subscription,
        )?,
    }))
}

/// Converts the value of a session option to the revision that needs it, and prints what is lost.
fn converted(
    option: &str,
    name: &str,
    text: &str,
    (from, to): (Revision, Revision),
    policy: UnknownFields,
) -> anyhow::Result<Json> {
    Json::from_text(text).with_context(|| format!("--{option} is not JSON"))?;
    let cx = Context::new(policy);
    let strict = from.type_named(name).map(|ty| ty.read(text));
    if let Some(Err(error)) = strict {
        return Err(error)
            .with_context(|| format!("--{option} is not a valid `{name}` of revision {from}"));
    }
    match mcp_revisions_core::convert(Subject::Type(name), from, to, text, cx) {
        Ok(outcome) => {
            for loss in outcome.losses() {
                crate::stderr::tell(&format!("--{option}: {loss}\n"));
            }
            let problem = format!("--{option} cannot be converted to revision {to}");
            outcome.value().context(problem)
        }
        Err(failure) => Err(failure)
            .with_context(|| format!("--{option} is not a valid `{name}` of revision {from}")),
    }
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

/// Exit codes: 0 exact or reversible, 4 lossy, 5 requires state, 6 rejected or dropped.
fn report(conversion: Conversion<Json>, as_json: bool) -> SubcommandOutcome {
    let (status, code) = match &conversion {
        Conversion::Exact(_) => ("exact", 0),
        Conversion::Reversible(..) => ("reversible", 0),
        Conversion::Lossy(..) => ("lossy", 4),
        Conversion::RequiresState(_) => ("requires-state", 5),
        Conversion::Rejected(_) => ("rejected", 6),
        Conversion::Dropped(_) => ("dropped", 6),
    };
    let losses = conversion.losses();
    let mut note: String = losses.iter().map(|loss| format!("{loss}\n")).collect();
    let mut row = Map::default();
    row.insert("status", Json::of(status));
    let (lost, reshaped): (Vec<&Loss>, Vec<&Loss>) = losses.iter().partition(|loss| loss.is_loss());
    let rows = |of: Vec<&Loss>| of.into_iter().map(told).collect::<Vec<_>>();
    let (lost, reshaped) = (Json::of(&rows(lost)), Json::of(&rows(reshaped)));
    let mut value = None;
    match conversion {
        Conversion::Exact(it) | Conversion::Reversible(it, _) | Conversion::Lossy(it, _) => {
            row.insert("losses", lost);
            row.insert("reshaped", reshaped);
            row.insert("value", it.clone());
            value = Some(it);
        }
        Conversion::RequiresState(needs) => {
            let cure = if needs.pointer.starts_with("/params/_meta") {
                "give --session-capabilities and --session-client in its place"
            } else {
                "only a connection has what it needs: see `mcp-rev bridge`"
            };
            note = format!("{needs}; {cure}\n");
            row.insert("adapter", Json::of(needs.adapter.as_str()));
            stopped(&mut row, needs.rule, needs.step, &needs.pointer);
        }
        Conversion::Rejected(rejected) => {
            note = format!("{rejected}\n");
            row.insert("code", Json::of(&rejected.error.code));
            row.insert("message", Json::of(&rejected.error.message));
            stopped(&mut row, rejected.rule, rejected.step, &rejected.pointer);
        }
        Conversion::Dropped(dropped) => {
            note = format!("{dropped}\n");
            stopped(&mut row, dropped.rule, dropped.step, &dropped.pointer);
        }
    }
    let mut text = match (as_json, value) {
        (true, _) => mcp_wire::to_string(&row),
        (false, Some(value)) => value.into_text(),
        (false, None) => String::new(),
    };
    if !text.is_empty() {
        text.push('\n');
    }
    if !as_json {
        crate::stderr::tell(&note);
    }
    SubcommandOutcome { text, code }
}

/// Exit code 3, as of every subcommand.
fn unreadable(error: &anyhow::Error, as_json: bool) -> SubcommandOutcome {
    let text = if as_json {
        format!(
            "{}\n",
            json!({ "status": "unreadable", "message": format!("{error:#}") })
        )
    } else {
        crate::stderr::print_error(error);
        String::new()
    };
    SubcommandOutcome { text, code: 3 }
}

/// The advice where a file was taken for a message since nothing else was said.
const OTHERWISE: &str =
    "; the file was read as a whole message: use --type, or --method with --part, if it is not one";

/// Exit code 1.
fn invalid(
    from: Protocol,
    diagnostic: &Diagnostic,
    cure: &str,
    as_json: bool,
) -> SubcommandOutcome {
    let Diagnostic {
        pointer, message, ..
    } = diagnostic;
    let problem = format!("{message}{cure}");
    let text = if as_json {
        let row = json!({ "status": "invalid", "pointer": pointer, "message": problem });
        format!("{row}\n")
    } else {
        crate::stderr::print_error(format_args!("input is not valid in {from}: {problem}"));
        String::new()
    };
    SubcommandOutcome { text, code: 1 }
}

/// Adds rule, step and pointer to an outcome without a value.
fn stopped(row: &mut Map<Json>, rule: &str, step: &str, pointer: &str) {
    row.insert("rule", Json::of(rule));
    row.insert("step", Json::of(step));
    row.insert("pointer", Json::of(pointer));
}

/// Returns the row of a loss, with the value that was there.
fn told(loss: &Loss) -> Map<Json> {
    let mut row = crate::loss::row(loss);
    row.insert("value", Json::of(&loss.value()));
    row
}
