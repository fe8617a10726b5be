//! Whole messages on their way to another revision: the envelope stays, what it carries is converted by its method.

use mcp_protocol::{Adapter, Context, Failure, Outcome, Part, Rejected, RequiresState, Subject};
use mcp_wire::{
    Direction, Error, ErrorObject, Extra, Json, JsonArray, MessageKind, MethodKind, Peeked, Raw,
};

use crate::envelope::Messages;
use crate::report::Problem;
use crate::route::{Protocol, Route};

/// A message, or a batch of them, that was converted.
pub(crate) struct Whole {
    /// What became of each message, with where it stood in the batch.
    pub(crate) messages: Vec<(String, Outcome<Json>)>,
    /// Whether they go out as one array: only where the target has batches.
    pub(crate) is_batch: bool,
}

/// Facts about a message that are not in its text.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The method that a response answers.
    pub(crate) method: Option<&'a str>,
    /// Who sends the message, or the request that it answers.
    pub(crate) sender: Option<Direction>,
}

/// Why a message was not converted.
pub(crate) enum Refused {
    /// It is no message of the revision that it is said to be of: where, and why.
    Invalid(String, String),
    /// The kind of the message cannot be found out.
    Unknown(String),
}

impl Refused {
    /// The refusal of what is read as this member of a message.
    pub(crate) fn within(member: &str, failure: Failure) -> Self {
        match failure {
            Failure::Invalid(error) => {
                let Problem {
                    pointer, message, ..
                } = Problem::at(member, &error);
                Self::Invalid(pointer, message)
            }
            Failure::Unknown(what) => Self::Unknown(what),
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::within("", failure)
    }
}

/// Converts a message or a batch; `context` makes the context of each.
///
/// # Errors
/// A text that is not a message of the protocol where the route begins, or whose kind `about` leaves open.
pub(crate) fn convert(
    messages: &Messages<'_>,
    route: &Route,
    about: About<'_>,
    context: &dyn Fn() -> Context,
) -> Result<Whole, Refused> {
    let has_batches = |at| route.type_named(at, "JSONRPCBatchRequest").is_some();
    let is_batch = messages.is_batch;
    if is_batch && !has_batches(route.from) {
        let told = route.told(route.from);
        return Err(Refused::Unknown(format!("{told} has no batches")));
    }
    let convert = |(index, message)| {
        let place = match is_batch {
            true => format!("/{index}"),
            false => String::new(),
        };
        Ok((place, one(message, route, about, context())?))
    };
    let all = messages.all.iter().enumerate().map(convert);
    Ok(Whole {
        messages: all.collect::<Result<_, Refused>>()?,
        is_batch: is_batch && has_batches(route.to),
    })
}

impl Whole {
    /// Returns the text of the converted messages: one message, one per line, or one array.
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
    message: &Peeked<'_>,
    route: &Route,
    about: About<'_>,
    cx: Context,
) -> Result<Outcome<Json>, Refused> {
    let mut members: Extra = mcp_wire::from_str(message.text).map_err(Failure::Invalid)?;
    let carry = |method: &str, part: Part, member: &'static str, text: &str, cx: Context| {
        let sender = sender(route, method, about)?;
        let subject = Subject::Method(method, part, sender);
        let crossing = crossing(method, route, about);
        let end = crossing
            .as_ref()
            .map_or(route.to, |crossing| crossing.before);
        let outcome = route.convert(subject, end, text, cx.within(member));
        let outcome = outcome.map_err(|failure| Refused::within(&format!("/{member}"), failure))?;
        Ok::<_, Refused>(match (crossing, outcome) {
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
            let method = about.method.ok_or_else(nameless)?;
            is_answered(route, method)?;
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
            let outcome = route.convert_error(method, error, cx.within("error"));
            let outcome = outcome.map(|error| {
                members.insert("error", Json::of(&error));
                Json::of(&members)
            });
            return Ok(with_id(route, outcome));
        }
    };
    let method = message.method.as_deref().unwrap_or_default();
    is_kind(route, method, kind, about)?;
    let text = message.params.map_or("{}", Raw::text);
    let outcome = carry(method, Part::Params, "params", text, cx)?;
    let name = name_at(route, route.to, method, about);
    Ok(outcome.map(|params| called(members, name, params)))
}

/// The text of a request or a notification with another name and other params: what had none goes without, unless the
/// conversion put something there.
fn called(mut members: Extra, name: &str, params: Json) -> Json {
    let had_none = members.get("params").is_none_or(Json::is_null);
    match had_none && params.text() == "{}" {
        true => members.remove("params"),
        false => members.insert("params", params),
    };
    members.insert("method", Json::of(name));
    Json::of(&members)
}

/// What a place on the way calls a method.
fn name_at<'m>(route: &Route, at: usize, method: &'m str, about: About<'_>) -> &'m str {
    // What is unclear about the sender was refused before.
    let sender = sender(route, method, about).ok().flatten();
    route.method_name(method, sender.unwrap_or(Direction::ClientToServer), at)
}

/// Where a request of the server, which is a message of its own, becomes one that is embedded in a result.
struct Crossing {
    /// The last place in which it is a message.
    before: usize,
    needs: RequiresState,
}

/// The place where a method stops to be a message of its own on the way.
fn crossing(method: &str, route: &Route, about: About<'_>) -> Option<Crossing> {
    let name = |at| name_at(route, at, method, about);
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

/// The outcome of an error, refused where it goes to a revision in which every error has the id of its request.
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
        route.told(after)
    );
    Outcome::Rejected(Rejected {
        error: ErrorObject::new(ErrorObject::INVALID_REQUEST, why),
        rule: mcp_protocol::Rule::NO_COUNTERPART.id(),
        step,
        pointer: "/id".to_owned(),
    })
}

/// Whether a text is an error response at a place on the way.
fn reads_as_error(route: &Route, at: usize, text: &Json) -> Result<(), Error> {
    let names = ["JSONRPCErrorResponse", "JSONRPCError"];
    match names.iter().find_map(|name| route.type_named(at, name)) {
        Some(ty) => ty.read(text.text()).map(drop),
        None => Ok(()),
    }
}

/// Checks that a message is of the kind that its method has; a method that the revision lacks is left to the conversion.
fn is_kind(route: &Route, method: &str, kind: MethodKind, about: About<'_>) -> Result<(), Refused> {
    let is_sent = |direction| about.sender.is_none_or(|sender| sender == direction);
    let rows: Vec<MethodKind> = route
        .methods(route.from, method)
        .filter(|row| is_sent(row.direction))
        .map(|row| row.kind)
        .collect();
    if rows.is_empty() || rows.contains(&kind) {
        return Ok(());
    }
    let (pointer, what) = match rows.first() {
        Some(MethodKind::Input) => ("/method", embedded(route, method)),
        Some(MethodKind::Notification) => {
            let what = format!("expected no `id`, since `{method}` is a notification, found one");
            ("/id", what)
        }
        _ => {
            let what = format!("expected an `id`, since `{method}` is a request, found none");
            ("", what)
        }
    };
    Err(Refused::Invalid(pointer.to_owned(), what))
}

fn embedded(route: &Route, method: &str) -> String {
    let told = route.told(route.from);
    format!(
        "`{method}` is no message of its own in {told}: it stands in a result, and its answer in the next request"
    )
}

/// Checks that a method is one that a response can answer.
///
/// # Errors
/// A method that is not there where the way begins, or that nothing answers.
pub(crate) fn is_answered(route: &Route, method: &str) -> Result<(), Refused> {
    let rows = route.methods(route.from, method);
    let kinds: Vec<MethodKind> = rows.map(|row| row.kind).collect();
    match kinds.first() {
        _ if kinds.contains(&MethodKind::Request) => Ok(()),
        None => Err(Refused::Unknown(format!(
            "no method `{method}` in {}",
            route.told(route.from)
        ))),
        Some(MethodKind::Input) => {
            let what = embedded(route, method);
            Err(Refused::Invalid(String::new(), what))
        }
        Some(_) => Err(Refused::Unknown(format!(
            "`{method}` is a notification, and nothing answers it"
        ))),
    }
}

/// Whether a text is an object without an envelope.
pub(crate) fn is_bare(text: &str) -> bool {
    let members = mcp_wire::from_str::<Extra>(text);
    members.is_ok_and(|members| members.get("jsonrpc").is_none())
}

/// Converts the definition of a request or a notification that has no envelope: a method and its params.
///
/// # Errors
/// As [`convert`].
pub(crate) fn bare(
    text: &str,
    route: &Route,
    about: About<'_>,
    cx: Context,
) -> Result<Outcome<Json>, Refused> {
    let members: Extra = mcp_wire::from_str(text).map_err(Failure::Invalid)?;
    let method = members.get("method").and_then(Json::as_str);
    let method = method.map(|method| method.to_string()).unwrap_or_default();
    let given = members.get("params").cloned();
    let text = given.as_ref().map_or("{}", Json::text);
    let subject = Subject::Method(&method, Part::Params, sender(route, &method, about)?);
    let outcome = (route.convert(subject, route.to, text, cx.within("params")))
        .map_err(|failure| Refused::within("/params", failure))?;
    let name = |at| name_at(route, at, &method, about);
    let to = route.to;
    let outcome = outcome.map(|params| called(members, name(to), params));
    let (Outcome::Exact(value) | Outcome::Reversible(value, _) | Outcome::Lossy(value, _)) =
        &outcome
    else {
        return Ok(outcome);
    };
    // In later revisions a request is its whole message.
    let has_its_name = |(_, after): &(usize, usize)| name(*after) == name(to);
    let refused = route.steps().filter(has_its_name).find_map(|ends| {
        let (_, after) = ends;
        let rows = route.methods(after, name(after));
        let mut types = rows.filter_map(|row| route.type_named(after, row.message));
        let error = types.find_map(|ty| ty.read(value.text()).err())?;
        Some((error, route.step(ends)?, ends))
    });
    let Some((error, (pair, step), (before, after))) = refused else {
        return Ok(outcome);
    };
    let was_embedded = route
        .methods(before, name(before))
        .any(|row| row.kind == MethodKind::Input);
    let rule = pair.hands_to(Adapter::MultiRoundTrip, name(before));
    if let (true, Some(rule)) = (was_embedded, rule) {
        return Ok(Outcome::RequiresState(RequiresState {
            adapter: Adapter::MultiRoundTrip,
            rule: rule.id(),
            step,
            pointer: String::new(),
        }));
    }
    let told = route.told(after);
    let why = format!("{told} has it as a whole message only: {error}");
    Ok(Outcome::Rejected(Rejected {
        error: ErrorObject::new(ErrorObject::INVALID_REQUEST, why),
        rule: mcp_protocol::Rule::NO_COUNTERPART.id(),
        step,
        pointer: String::new(),
    }))
}

fn nameless() -> Refused {
    Refused::Unknown("a response does not say which method it answers: give --method".to_owned())
}

/// Returns the sender of a method: as given, or the only one where the route begins.
fn sender(route: &Route, method: &str, about: About<'_>) -> Result<Option<Direction>, Refused> {
    if about.sender.is_some() {
        return Ok(about.sender);
    }
    let rows = route.methods(route.from, method);
    let mut directions = rows.map(|row| (row.direction, row.kind));
    match (directions.next(), directions.next()) {
        (Some((direction, _)), None) => Ok(Some(direction)),
        (Some((_, MethodKind::Notification)), Some(_)) => Err(Refused::Unknown(format!(
            "both sides may send `{method}`, and it does not mean the same from each: give --sender"
        ))),
        _ => Ok(None),
    }
}

/// Whether a definition is that of a whole message, and the method that it answers, if one names it.
pub(crate) fn envelope(of: Protocol, name: &str) -> Option<Option<&'static str>> {
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

/// Reads a text as a definition, if there is one of that name.
///
/// # Errors
/// A text that is none.
pub(crate) fn check(of: Protocol, name: &str, text: &str) -> Result<(), Error> {
    match of.type_named(name) {
        Some(ty) => ty.read(text).map(drop),
        None => mcp_wire::from_str::<JsonArray>(text).map(drop),
    }
}
