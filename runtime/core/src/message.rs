//! Whole messages in another revision: the envelope stays, and the method says how to convert what it carries.

use mcp_revisions_tables::{
    Adapter, Context, Failure, Outcome, Part, Rejected, RequiresState, Rule, Subject,
};
use mcp_wire::{Direction, Error, ErrorObject, Extra, Json, MessageKind, MethodKind, Peeked, Raw};

use crate::diagnostic::{Diagnostic, MessageError};
use crate::envelope::{ReadMessages, read_messages};
use crate::route::{Protocol, Route};

/// Facts about a message that are not in its text.
#[derive(Debug, Clone, Default)]
pub struct MessageContext<'a> {
    method: Option<&'a str>,
    sender: Option<Direction>,
    pub(crate) conversion: Context,
}

impl<'a> MessageContext<'a> {
    /// Creates the context of a message that is not a response; `conversion` has the policy for unknown fields, and what
    /// is known of the session.
    #[must_use]
    pub fn new(conversion: Context) -> Self {
        Self {
            conversion,
            ..Self::default()
        }
    }

    /// Sets the method of the request that a response answers: without it no response is converted.
    #[must_use]
    pub fn answering(self, method: impl Into<Option<&'a str>>) -> Self {
        Self {
            method: method.into(),
            ..self
        }
    }

    /// Sets who sends the method: a message, or the request that a response answers. Only methods of both sides need it.
    #[must_use]
    pub fn sent_by(self, sender: impl Into<Option<Direction>>) -> Self {
        Self {
            sender: sender.into(),
            ..self
        }
    }
}

/// The messages of a text in another revision.
#[derive(Debug)]
pub struct ConvertedMessages {
    /// The outcome of each message, with its JSON pointer in the text: `/0` in a batch, empty for a single message.
    pub messages: Vec<(String, Outcome<Json>)>,
    /// Whether they go out as one array: only where the target has batches.
    pub is_batch: bool,
}

impl ConvertedMessages {
    /// Returns the text of the converted messages: one message, one per line, or one array.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .messages
            .iter()
            .filter_map(|(_, outcome)| match outcome {
                Outcome::Exact(json) | Outcome::Reversible(json, _) | Outcome::Lossy(json, _) => {
                    Some(json.text())
                }
                _ => None,
            })
            .collect();
        if self.is_batch && !texts.is_empty() {
            format!("[{}]", texts.join(","))
        } else {
            texts.join("\n")
        }
    }
}

/// Converts a request, notification, response or error from one revision to another.
///
/// The id and the unknown members of the envelope stay as they are. A response needs the method that it answers:
///
/// ```
/// use mcp_revisions_core::{MessageContext, Outcome, Revision, convert_message};
///
/// let text = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#;
/// let context = MessageContext::default().answering("tools/call");
/// let outcome = convert_message(text, Revision::V2026_07_28, Revision::V2025_06_18, &context)?;
/// assert!(matches!(
///     outcome,
///     Outcome::Exact(message) if message.text() == r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#
/// ));
/// # Ok::<(), mcp_revisions_core::MessageError>(())
/// ```
///
/// # Errors
/// A text that is not one message of `from`, a method that `from` does not have, a response whose method the context
/// does not say, and two protocols that are not converted into each other.
pub fn convert_message(
    text: &str,
    from: impl Into<Protocol>,
    to: impl Into<Protocol>,
    context: &MessageContext<'_>,
) -> Result<Outcome<Json>, MessageError> {
    let route = Route::between(from, to)?;
    let messages = read_messages(text).map_err(MessageError::Invalid)?;
    match &*messages.all {
        [message] if !messages.is_batch => convert_one(message, &route, context),
        _ => Err(MessageError::Invalid(Diagnostic::new(
            "",
            "one message: `convert_messages` takes a batch".to_owned(),
            "an array".to_owned(),
        ))),
    }
}

/// Converts a message or a batch, each message by itself; see [`convert_message`].
///
/// # Errors
/// As [`convert_message`], and a batch of a revision without batches.
pub fn convert_messages(
    messages: &ReadMessages<'_>,
    route: &Route,
    context: &MessageContext<'_>,
) -> Result<ConvertedMessages, MessageError> {
    let has_batches = |at| route.type_named(at, "JSONRPCBatchRequest").is_some();
    let is_batch = messages.is_batch;
    if is_batch && !has_batches(route.from) {
        let title = route.title(route.from);
        return Err(MessageError::Unknown(format!("{title} has no batches")));
    }
    let convert = |(index, message)| {
        let pointer = if is_batch {
            format!("/{index}")
        } else {
            String::new()
        };
        Ok((pointer, convert_one(message, route, context)?))
    };
    let all = messages.all.iter().enumerate().map(convert);
    Ok(ConvertedMessages {
        messages: all.collect::<Result<_, MessageError>>()?,
        is_batch: is_batch && has_batches(route.to),
    })
}

fn convert_one(
    message: &Peeked<'_>,
    of_all: &Route,
    context: &MessageContext<'_>,
) -> Result<Outcome<Json>, MessageError> {
    let named = message.method.as_deref().or(context.method);
    let route = &of_all.of_method(named.unwrap_or_default(), context.sender);
    let cx = context.conversion.clone();
    let mut members: Extra = mcp_wire::from_str(message.text).map_err(Failure::Invalid)?;
    let carry = |method: &str, part: Part, member: &'static str, text: &str, cx: Context| {
        let sender = sender(route, method, context)?;
        let subject = Subject::Method(method, part, sender);
        let crossing = crossing(method, route, context);
        let end = crossing
            .as_ref()
            .map_or(route.to, |crossing| crossing.before);
        let outcome = route.convert(subject, end, text, cx.within(member));
        let outcome =
            outcome.map_err(|failure| MessageError::within(&format!("/{member}"), failure))?;
        Ok::<_, MessageError>(match (crossing, outcome) {
            (Some(crossing), Outcome::Exact(_) | Outcome::Reversible(..) | Outcome::Lossy(..)) => {
                Outcome::RequiresState(crossing.needs)
            }
            (_, outcome) => outcome,
        })
    };
    let kind = match message.kind {
        MessageKind::Request => MethodKind::Request,
        MessageKind::Notification => MethodKind::Notification,
        MessageKind::Response | MessageKind::Error | MessageKind::Batch => {
            let method = context.method.ok_or(MessageError::UnknownRequest)?;
            check_answered(route, method)?;
            if let Some(result) = message.result {
                let outcome = carry(method, Part::Result, "result", result.text(), cx)?;
                return Ok(outcome.map(|result| {
                    members.insert("result", result);
                    Json::of(&members)
                }));
            }
            if message.id.is_none() {
                members.remove("id");
            }
            reads_as_error(route, route.from, &Json::of(&members)).map_err(Failure::Invalid)?;
            let error = message.error.map_or("{}", Raw::text);
            let error = mcp_wire::from_str(error).map_err(Failure::Invalid)?;
            let outcome = route
                .convert_error(method, error, cx.within("error"))
                .map(|error| {
                    members.insert("error", Json::of(&error));
                    Json::of(&members)
                });
            return Ok(with_id(route, outcome));
        }
    };
    let method = message.method.as_deref().unwrap_or_default();
    is_kind(route, method, kind, context)?;
    let text = message.params.map_or("{}", Raw::text);
    let outcome = carry(method, Part::Params, "params", text, cx)?;
    let name = name_at(route, route.to, method, context);
    Ok(outcome.map(|params| called(members, name, params)))
}

/// Returns the text of a request or a notification with another name and other params: what had none goes without, unless the
/// conversion put something there.
pub(crate) fn called(mut members: Extra, name: &str, params: Json) -> Json {
    let had_none = members.get("params").is_none_or(Json::is_null);
    if had_none && params.text() == "{}" {
        members.remove("params")
    } else {
        members.insert("params", params)
    };
    members.insert("method", Json::of(name));
    Json::of(&members)
}

/// Returns what a place on the way calls a method.
pub(crate) fn name_at<'m>(
    route: &Route,
    at: usize,
    method: &'m str,
    context: &MessageContext<'_>,
) -> &'m str {
    // What is unclear about the sender was refused before.
    let sender = sender(route, method, context).ok().flatten();
    route.method_name(method, sender.unwrap_or(Direction::ClientToServer), at)
}

/// Where a request of the server, which is a message of its own, becomes one that is embedded in a result.
struct Crossing {
    /// The last place in which it is a message.
    before: usize,
    needs: RequiresState,
}

/// Returns the place where a method stops to be a message of its own on the way.
fn crossing(method: &str, route: &Route, context: &MessageContext<'_>) -> Option<Crossing> {
    let name = |at| name_at(route, at, method, context);
    let has = |at, kind| route.methods(at, name(at)).any(|row| row.kind == kind);
    let stops = |(one, other): &(usize, usize)| {
        has(*one, MethodKind::Request)
            && has(*other, MethodKind::Input)
            && !has(*other, MethodKind::Request)
    };
    let ends = route.steps().find(stops)?;
    let (pair, step) = route.step(ends)?;
    let (before, _) = ends;
    let adapter = Adapter::MultiRoundTrip;
    let rule = pair.hands_to(adapter, name(before));
    let needs = RequiresState {
        adapter,
        rule: rule.map_or("", |rule| rule.id()),
        step,
        pointer: String::new(),
    };
    Some(Crossing { before, needs })
}

/// Returns the outcome of an error, refused where it goes to a revision in which every error has the id of its request.
fn with_id(route: &Route, outcome: Outcome<Json>) -> Outcome<Json> {
    let refused = match &outcome {
        Outcome::Exact(text) | Outcome::Reversible(text, _) | Outcome::Lossy(text, _) => {
            route.steps().find_map(|ends| {
                let error = reads_as_error(route, ends.1, text).err()?;
                let (_, step) = route.step(ends)?;
                Some((error, step, ends.1))
            })
        }
        _ => None,
    };
    let Some((error, step, after)) = refused else {
        return outcome;
    };
    let why = format!(
        "an error response that {} does not have: {error}",
        route.title(after)
    );
    Outcome::Rejected(Rejected {
        error: ErrorObject::new(ErrorObject::INVALID_REQUEST, why),
        rule: Rule::NO_COUNTERPART.id(),
        step,
        pointer: "/id".to_owned(),
    })
}

/// Checks that a text is an error response at a place on the way.
fn reads_as_error(route: &Route, at: usize, text: &Json) -> Result<(), Error> {
    let names = ["JSONRPCErrorResponse", "JSONRPCError"];
    match names.iter().find_map(|name| route.type_named(at, name)) {
        Some(ty) => ty.read(text.text()).map(drop),
        None => Ok(()),
    }
}

/// Checks that a message is of the kind that its method has; a method that the revision lacks is left to the conversion.
fn is_kind(
    route: &Route,
    method: &str,
    kind: MethodKind,
    context: &MessageContext<'_>,
) -> Result<(), MessageError> {
    let is_sent = |direction| context.sender.is_none_or(|sender| sender == direction);
    let rows: Vec<MethodKind> = route
        .methods(route.from, method)
        .filter(|row| is_sent(row.direction))
        .map(|row| row.kind)
        .collect();
    if rows.is_empty() || rows.contains(&kind) {
        return Ok(());
    }
    Err(MessageError::Invalid(match rows.first() {
        Some(MethodKind::Input) => embedded(route, method),
        Some(MethodKind::Notification) => Diagnostic::new(
            "/id",
            format!("no `id`, since `{method}` is a notification"),
            "one".to_owned(),
        ),
        _ => Diagnostic::new(
            "",
            format!("an `id`, since `{method}` is a request"),
            "none".to_owned(),
        ),
    }))
}

fn embedded(route: &Route, method: &str) -> Diagnostic {
    Diagnostic::new(
        "/method",
        format!(
            "a method that is a message of its own in {}",
            route.title(route.from)
        ),
        format!("`{method}`, which stands in a result, and its answer in the next request"),
    )
}

/// Checks that a method is one that a response can answer.
///
/// # Errors
/// A method that is not there where the route begins, or that nothing answers. An extension has the methods of its
/// revision that one of its types may answer: `tools/call` by `CreateTaskResult`.
pub fn check_answered(route: &Route, method: &str) -> Result<(), MessageError> {
    let rows = route.methods(route.from, method);
    let kinds: Vec<MethodKind> = rows.map(|row| row.kind).collect();
    match kinds.first() {
        _ if kinds.contains(&MethodKind::Request) => Ok(()),
        _ if route.extension_result(method).is_some() => Ok(()),
        None => Err(MessageError::Unknown(format!(
            "no method `{method}` in {}",
            route.title(route.from)
        ))),
        Some(MethodKind::Input) => Err(MessageError::Invalid(embedded(route, method))),
        Some(_) => Err(MessageError::Unknown(format!(
            "`{method}` is a notification, and nothing answers it"
        ))),
    }
}

/// Returns the sender of a method: as given, or the only one where the route begins.
pub(crate) fn sender(
    route: &Route,
    method: &str,
    context: &MessageContext<'_>,
) -> Result<Option<Direction>, MessageError> {
    if context.sender.is_some() {
        return Ok(context.sender);
    }
    let rows = route.methods(route.from, method);
    let mut directions = rows.map(|row| (row.direction, row.kind));
    match (directions.next(), directions.next()) {
        (Some((direction, _)), None) => Ok(Some(direction)),
        (Some((_, MethodKind::Notification)), Some(_)) => {
            Err(MessageError::UnknownSender(method.to_owned()))
        }
        _ => Ok(None),
    }
}
