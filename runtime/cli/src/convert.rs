//! `mcp-rev convert`: converts a message or a value to another revision, and reports the losses.

use std::io::Read;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use mcp_revisions_core::program::{ReadMessages, check_answered, convert_bare, read_messages};
use mcp_revisions_core::values::TABLES;
use mcp_revisions_core::{
    Context, Conversion, ConversionError, Diagnostic, Extension, Lifecycle, Loss, MessageContext,
    Part, Protocol, Revision, Route, Session, Subject, UnknownFields, convert_message,
};
use mcp_wire::{Direction, ErrorObject, Extra, Json, Map, Peeked};
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
    let route = &Route::between(*from, *to).map_err(|error| takes_no_part(&error, *from, *to))?;
    let cx = context(arguments, *from, *to)?;
    let direction = arguments.sender.map(|sender| match sender {
        SenderArgument::Client => Direction::ClientToServer,
        SenderArgument::Server => Direction::ServerToClient,
    });
    let unknown = |what: String| {
        let kind = if ty.is_some() { "types" } else { "methods" };
        let is_to = what.ends_with(&format!(" in {to}"));
        let (option, lacking) = if is_to { ("to", to) } else { ("from", from) };
        let name = what.split('`').nth(1).unwrap_or_default();
        let names = |one: &Protocol| -> Vec<&str> {
            match ty {
                Some(_) => one.types().iter().map(|ty| ty.name).collect(),
                None => one.methods().iter().map(|method| method.name).collect(),
            }
        };
        let has_it = |one: &Protocol| names(one).contains(&name);
        let mut extensions = Extension::of(lacking.revision()).map(Protocol::Extension);
        if let (Protocol::Revision(_), Some(extension)) = (lacking, extensions.find(has_it)) {
            return format!("{what}; the extension has it: use --{option} {extension}");
        }
        // A part of the source is missing in the target, where another name would be another thing.
        let near = if has_it(from) {
            String::new()
        } else {
            similar(name, names(from).into_iter())
        };
        format!("{what}{near}; `mcp-rev list {kind} {lacking}` lists all")
    };
    if let Some(ty) = ty.as_ref().filter(|ty| from.type_named(ty).is_none()) {
        bail!(unknown(format!("no type `{ty}` in {from}")));
    }
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
    if let (Some(ty), Some(_), false) = (ty, whole, route.is_untouched())
        && let Some(Err(error)) = from
            .type_named(ty)
            .map(|ty| ty.mend(&text, TABLES.mistakes))
    {
        return Ok(invalid(*from, error.pointer(), &error.to_string(), *json));
    }
    let done = |converted: Conversion<Json>| match converted {
        Err(ConversionError::Unknown(what)) => Err(anyhow::anyhow!(unknown(what))),
        Err(error @ ConversionError::UnknownRequest) => bail!("{error}: give --method"),
        Err(error @ ConversionError::UnknownSender(_)) => bail!("{error}: give --sender"),
        converted => Ok(report(converted, *from, "", *json)),
    };
    if let Some(named) = whole {
        let context = MessageContext::new(cx)
            .answering(method.as_deref().or(named))
            .sent_by(direction);
        if ty.is_some() && is_bare(&text) {
            return done(convert_bare(&text, route, &context));
        }
        let messages = match read_messages(&text) {
            Ok(messages) => messages,
            Err(diagnostic) => {
                let cure = if ty.is_none() { OTHERWISE } else { "" };
                let problem = format!("{diagnostic}{cure}");
                return Ok(invalid(*from, &diagnostic.pointer, &problem, *json));
            }
        };
        let mut converted = match convert_messages(&messages, (*from, *to), &context) {
            Ok(converted) => converted,
            Err(error) => return done(Err(error)),
        };
        return match converted.messages.pop() {
            Some((_, one)) if !messages.is_batch => done(one),
            last => {
                converted.messages.extend(last);
                Ok(report_messages(converted, *from, *json))
            }
        };
    }
    done(match (ty, method, part) {
        (None, Some(method), Some(PartArgument::Error)) => {
            check_answered(route, method).and_then(|()| convert_error(method, route, &text, cx))
        }
        (None, Some(method), part) => {
            let part = match part {
                Some(PartArgument::Result) => Part::Result,
                _ => Part::Params,
            };
            route.convert(Subject::Method(method, part, direction), &text, cx)
        }
        (Some(ty), _, _) => route.convert(Subject::Type(ty), &text, cx),
        (None, None, _) => bail!("give --type, or --method with --part"),
    })
}

/// Returns the error of two protocols that are not converted into each other, with the release that a candidate became.
fn takes_no_part(error: &ConversionError, from: Protocol, to: Protocol) -> anyhow::Error {
    let ends = [("from", from.revision()), ("to", to.revision())];
    let mut releases = ends.iter().filter_map(|(option, end)| {
        let release = Revision::from_protocol_version(end.protocol_version());
        Some((option, release.filter(|_| !end.is_converted())?))
    });
    match releases.next() {
        Some((option, release)) => anyhow::anyhow!("{error}: use --{option} {release}"),
        None => anyhow::anyhow!("{error}"),
    }
}

/// Returns whether a text is an object without an envelope.
fn is_bare(text: &str) -> bool {
    let members = mcp_wire::from_str::<Extra>(text);
    members.is_ok_and(|members| members.get("jsonrpc").is_none())
}

/// Returns whether a definition is that of a whole message, and the method that it answers, if its name says so.
fn whole_message(of: Protocol, name: &str) -> Option<Option<&'static str>> {
    let rows = of.methods();
    if rows.iter().any(|row| row.message == name) {
        return Some(None);
    }
    let answered = name.strip_suffix("ResultResponse");
    let request = answered.map(|stem| format!("{stem}Request"));
    if let Some(row) = rows
        .iter()
        .find(|row| request.as_deref() == Some(row.message))
    {
        return Some(Some(row.name));
    }
    let unions = [
        "ClientRequest",
        "ClientNotification",
        "ServerRequest",
        "ServerNotification",
        "Request",
        "Notification",
    ];
    let generic = name.starts_with("JSONRPC") || unions.contains(&name);
    generic.then_some(None)
}

/// Converts each message of a file by itself; a batch has an array only where both revisions have batches. Fails for a batch of
/// a revision without batches.
fn convert_messages(
    messages: &ReadMessages<'_>,
    (from, to): (Protocol, Protocol),
    context: &MessageContext<'_>,
) -> Result<ConvertedMessages, ConversionError> {
    let has_batches = |of: Protocol| of.type_named("JSONRPCBatchRequest").is_some();
    let is_batch = messages.is_batch;
    if is_batch && !has_batches(from) {
        let title = from.title();
        return Err(ConversionError::Unknown(format!("{title} has no batches")));
    }
    let convert = |(index, message): (usize, &Result<Peeked<'_>, Diagnostic>)| {
        let pointer = if is_batch {
            format!("/{index}")
        } else {
            String::new()
        };
        let converted = match message {
            Ok(message) => convert_message(message.text, from, to, context)
                .map_err(|error| error.within(&pointer)),
            Err(diagnostic) => Err(diagnostic.clone().into()),
        };
        (pointer, converted)
    };
    Ok(ConvertedMessages {
        messages: messages.all.iter().enumerate().map(convert).collect(),
        is_batch: is_batch && has_batches(to),
    })
}

/// The messages of a file in another revision.
struct ConvertedMessages {
    /// Each message, with its JSON pointer in the file: `/0` in a batch, empty for a single message.
    messages: Vec<(String, Conversion<Json>)>,
    /// Set if they go out as one array.
    is_batch: bool,
}

impl ConvertedMessages {
    /// Returns the text of the converted messages: one message, one per line, or one array.
    fn text(&self) -> String {
        let messages = self.messages.iter();
        let texts: Vec<&str> = messages
            .filter_map(|(_, converted)| Some(converted.as_ref().ok()?.0.text()))
            .collect();
        if self.is_batch && !texts.is_empty() {
            format!("[{}]", texts.join(","))
        } else {
            texts.join("\n")
        }
    }
}

/// Returns the messages that go on, and what became of each; the worst outcome gives the exit code.
fn report_messages(
    converted: ConvertedMessages,
    from: Protocol,
    as_json: bool,
) -> SubcommandOutcome {
    let mut text = if as_json {
        String::new()
    } else {
        converted.text()
    };
    if !text.is_empty() {
        text.push('\n');
    }
    let mut code = 0;
    for (place, one) in converted.messages {
        if !as_json {
            let is_exact = matches!(&one, Ok((_, losses)) if losses.is_empty());
            let exact = if is_exact { "exact\n" } else { "" };
            crate::stderr::tell(&format!("{place}: {exact}"));
        }
        let one = report(one, from, &place, as_json);
        code = code.max(one.code);
        if as_json {
            text.push_str(&one.text);
        }
    }
    SubcommandOutcome { text, code }
}

fn convert_error(method: &str, route: &Route, text: &str, cx: Context) -> Conversion<Json> {
    if route.is_untouched() {
        return Ok((Json::from_text(text)?, Vec::new()));
    }
    let error: ErrorObject = mcp_wire::from_str(text)?;
    let (error, losses) = route.convert_error(method, error, cx)?;
    Ok((Json::of(&error), losses))
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
    let route = Route::between(from, to)?;
    let (value, losses) = route
        .convert(Subject::Type(name), text, cx)
        .with_context(|| format!("--{option} cannot be converted to revision {to}"))?;
    for loss in losses {
        crate::stderr::tell(&format!("--{option}: {loss}\n"));
    }
    Ok(value)
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

/// Exit codes: 0 exact or reversible, 1 invalid, 4 lossy, 5 requires state, 6 rejected or dropped.
fn report(
    converted: Conversion<Json>,
    from: Protocol,
    place: &str,
    as_json: bool,
) -> SubcommandOutcome {
    let mut row = Map::default();
    let mut value = None;
    let (code, note) = match converted {
        Ok((it, losses)) => {
            let (status, code) = match &*losses {
                [] => ("exact", 0),
                all if all.iter().any(|loss| loss.change.is_loss()) => ("lossy", 4),
                _ => ("reversible", 0),
            };
            let note: String = losses.iter().map(|loss| format!("{loss}\n")).collect();
            row.insert("status", Json::of(status));
            let (lost, reshaped): (Vec<&Loss>, Vec<&Loss>) =
                losses.iter().partition(|loss| loss.is_loss());
            let rows = |of: Vec<&Loss>| Json::of(&of.into_iter().map(told).collect::<Vec<_>>());
            row.insert("losses", rows(lost));
            row.insert("reshaped", rows(reshaped));
            row.insert("value", it.clone());
            value = Some(it);
            (code, note)
        }
        Err(ConversionError::RequiresState(needs)) => {
            let cure = if needs.pointer.starts_with("/params/_meta") {
                "give --session-capabilities and --session-client in its place"
            } else {
                "only a connection has what it needs: see `mcp-rev bridge`"
            };
            row.insert("status", Json::of("requires-state"));
            row.insert("adapter", Json::of(needs.adapter.as_str()));
            stopped(&mut row, needs.rule, needs.step, &needs.pointer);
            (5, format!("{needs}; {cure}\n"))
        }
        Err(ConversionError::Rejected(rejected)) => {
            row.insert("status", Json::of("rejected"));
            row.insert("code", Json::of(&rejected.error.code));
            row.insert("message", Json::of(&rejected.error.message));
            stopped(&mut row, rejected.rule, rejected.step, &rejected.pointer);
            (6, format!("{rejected}\n"))
        }
        Err(ConversionError::Dropped(dropped)) => {
            row.insert("status", Json::of("dropped"));
            stopped(&mut row, dropped.rule, dropped.step, &dropped.pointer);
            (6, format!("{dropped}\n"))
        }
        Err(ConversionError::Invalid(diagnostic)) => {
            return invalid(from, &diagnostic.pointer, &diagnostic.message, as_json);
        }
        Err(other) => {
            return invalid(from, place, &other.to_string(), as_json);
        }
    };
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
fn invalid(from: Protocol, pointer: &str, problem: &str, as_json: bool) -> SubcommandOutcome {
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
