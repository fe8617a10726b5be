//! Whole messages on their way to another revision: the envelope stays, what it carries is converted by its method.

use mcp_registry::{Context, Failure, Outcome, Part, Revision, Subject};
use mcp_wire::{Direction, Error, Json, JsonArray, Message, MethodKind, Packet};

/// A message, or a batch of them, that was converted.
pub(crate) struct Whole {
    /// What became of each message, with where it stood in the batch.
    pub(crate) messages: Vec<(String, Outcome<Json>)>,
    /// Whether they go out as one array: only where the target has batches.
    pub(crate) is_batch: bool,
}

/// What a message needs to be told of that does not stand in it.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The method that a response answers.
    pub(crate) method: Option<&'a str>,
    /// Who sends the message, or the request that it answers.
    pub(crate) sender: Option<Direction>,
}

/// Converts a message or a batch; `context` makes the context of each.
///
/// # Errors
/// What is no message of `from`, and what cannot be told without more being said.
pub(crate) fn convert(
    packet: Packet,
    (from, to): (Revision, Revision),
    about: About<'_>,
    context: &dyn Fn() -> Context,
) -> Result<Whole, Failure> {
    let has_batches = |revision: Revision| revision.type_named("JSONRPCBatchRequest").is_some();
    match packet {
        Packet::Single(message) => Ok(Whole {
            messages: vec![(String::new(), one(message, (from, to), about, context())?)],
            is_batch: false,
        }),
        Packet::Batch(_) if !has_batches(from) => {
            Err(Failure::Unknown(format!("revision {from} has no batches")))
        }
        Packet::Batch(messages) => {
            let convert = |(index, message)| {
                let outcome = one(message, (from, to), about, context())?;
                Ok((format!("/{index}"), outcome))
            };
            Ok(Whole {
                messages: (messages.into_iter().enumerate())
                    .map(convert)
                    .collect::<Result<_, Failure>>()?,
                is_batch: has_batches(to),
            })
        }
    }
}

impl Whole {
    /// The text of what goes on: a message, one a line, or one array.
    pub(crate) fn text(&self) -> String {
        let texts = self
            .messages
            .iter()
            .filter_map(|(_, outcome)| match outcome {
                Outcome::Exact(json) | Outcome::Reversible(json, _) | Outcome::Lossy(json, _) => {
                    Some(json.text())
                }
                _ => None,
            });
        let texts: Vec<&str> = texts.collect();
        match self.is_batch {
            true if !texts.is_empty() => format!("[{}]", texts.join(",")),
            _ => texts.join("\n"),
        }
    }
}

fn one(
    message: Message,
    (from, to): (Revision, Revision),
    about: About<'_>,
    cx: Context,
) -> Result<Outcome<Json>, Failure> {
    let part = |method: &str, part: Part, text: &str, cx: Context| {
        let sender = sender(from, method, about)?;
        let subject = Subject::Method(method, part, sender);
        mcp_registry::convert(subject, from, to, text, cx)
    };
    Ok(match message {
        Message::Request(mut request) => {
            let given = request.params.take();
            let text = given.as_ref().map_or("{}", Json::text);
            let outcome = part(&request.method, Part::Params, text, cx)?;
            outcome.map(|params| {
                request.params = kept(given.as_ref(), params);
                Json::of(&Message::Request(request))
            })
        }
        Message::Notification(mut notification) => {
            let given = notification.params.take();
            let text = given.as_ref().map_or("{}", Json::text);
            let outcome = part(&notification.method, Part::Params, text, cx)?;
            outcome.map(|params| {
                notification.params = kept(given.as_ref(), params);
                Json::of(&Message::Notification(notification))
            })
        }
        Message::Response(mut response) => {
            let method = about.method.ok_or_else(nameless)?;
            let outcome = part(method, Part::Result, response.result.text(), cx)?;
            outcome.map(|result| {
                response.result = result;
                Json::of(&Message::Response(response))
            })
        }
        Message::Error(mut error) => {
            let method = about.method.ok_or_else(nameless)?;
            let outcome = mcp_registry::convert_error(method, from, to, error.error.clone(), cx);
            outcome.map(|converted| {
                error.error = converted;
                Json::of(&Message::Error(error))
            })
        }
    })
}

fn nameless() -> Failure {
    Failure::Unknown("a response does not say which method it answers: give --method".to_owned())
}

/// Params of a message that had none stay away, unless the conversion put something there.
fn kept(given: Option<&Json>, params: Json) -> Option<Json> {
    (given.is_some() || params.text() != "{}").then_some(params)
}

/// Who sends a method: as told, or as the revision has it where one side alone can.
fn sender(from: Revision, method: &str, about: About<'_>) -> Result<Option<Direction>, Failure> {
    if about.sender.is_some() {
        return Ok(about.sender);
    }
    let mut directions = from
        .methods()
        .iter()
        .filter(|row| row.name == method)
        .map(|row| (row.direction, row.kind));
    match (directions.next(), directions.next()) {
        (Some((direction, _)), None) => Ok(Some(direction)),
        (Some((_, MethodKind::Notification)), Some(_)) => Err(Failure::Unknown(format!(
            "both sides may send `{method}`, and it does not mean the same from each: give --sender"
        ))),
        _ => Ok(None),
    }
}

/// Whether a definition is that of a whole message, and the method that it answers, if one names it.
pub(crate) fn envelope(revision: Revision, name: &str) -> Option<Option<&'static str>> {
    let rows = revision.methods();
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
    ];
    let generic = name.starts_with("JSONRPC") || unions.contains(&name);
    generic.then_some(None)
}

/// Reads a text as a definition, if the revision has it.
///
/// # Errors
/// A text that is none.
pub(crate) fn check(revision: Revision, name: &str, text: &str) -> Result<(), Error> {
    match revision.type_named(name) {
        Some(ty) => ty.read(text).map(drop),
        None => mcp_wire::from_str::<JsonArray>(text).map(drop),
    }
}
