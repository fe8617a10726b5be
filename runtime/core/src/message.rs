//! Whole messages in another revision: the envelope stays, and the method says how to convert what it carries.

use mcp_revisions_tables::{Adapter, Context, Part, Rejected, RequiresState, Rule, Subject};
use mcp_wire::{
    Direction, Error, ErrorObject, Extra, Json, MessageKind, MethodInfo, MethodKind, Peeked, Raw,
};

use crate::diagnostic::{Conversion, ConversionError, Diagnostic};
use crate::envelope::read_messages;
use crate::protocol::Protocol;
use crate::route::Route;

/// Facts about a message that are not in its text.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct MessageContext<'a> {
    method: Option<&'a str>,
    sender: Option<Direction>,
    pub(crate) conversion: Context,
}

impl<'a> MessageContext<'a> {
    /// Creates the context of a message that is not a response; `conversion` has the policy for unknown fields, and what
    /// is known of the session.
    pub fn new(conversion: Context) -> Self {
        Self {
            conversion,
            ..Self::default()
        }
    }

    /// Sets the method of the request that a response answers: without it no response is converted.
    pub fn answering(mut self, method: impl Into<Option<&'a str>>) -> Self {
        self.method = method.into();
        self
    }

    /// Sets who sends the method: a message, or the request that a response answers. Only methods of both sides need it.
    pub fn sent_by(mut self, sender: impl Into<Option<Direction>>) -> Self {
        self.sender = sender.into();
        self
    }
}

/// Converts a request, notification, response or error from one revision to another, and returns it with its losses.
///
/// The id and the unknown members of the envelope stay as they are. Between equal revisions the message stays as it is. A
/// response needs the method that it answers:
///
/// ```
/// use mcp_revisions_core::{ConversionError, MessageContext, Revision, convert_message};
///
/// let text = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#;
/// let context = MessageContext::default().answering("tools/call");
/// let (message, losses) = convert_message(text, Revision::V2026_07_28, Revision::V2025_06_18, &context)?;
/// assert_eq!(message.text(), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
/// assert!(losses.is_empty());
/// # Ok::<(), ConversionError>(())
/// ```
///
/// # Errors
/// Returns an error for a text that is not one message of `from`, a method that `from` does not have, a response whose method the
/// context lacks, two protocols that are not converted into each other, and a message that `to` does not have.
pub fn convert_message(
    text: &str,
    from: impl Into<Protocol>,
    to: impl Into<Protocol>,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    let route = Route::between(from, to)?;
    let messages = read_messages(text)?;
    match &*messages.all {
        [Ok(message)] if !messages.is_batch => convert_one(message, &route, context),
        _ => Err(Diagnostic::new(
            "",
            "one message: each of a batch is converted by itself".to_owned(),
            "an array".to_owned(),
        )
        .into()),
    }
}

/// Converts a message that was looked at.
pub(crate) fn convert_one(
    message: &Peeked<'_>,
    of_all: &Route,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    let kind = match message.kind {
        MessageKind::Request => Some(MethodKind::Request),
        MessageKind::Notification => Some(MethodKind::Notification),
        MessageKind::Response | MessageKind::Error | MessageKind::Batch => None,
    };
    let named = message.method.as_deref().or(context.method);
    if let (Some(method), Some(kind)) = (named, kind) {
        check_sent(of_all.beginning(), method, kind, context.sender)?;
    }
    if of_all.is_untouched() {
        if let (Some(method), None) = (named, kind)
            && of_all.methods(of_all.from, method).next().is_some()
        {
            check_answered(of_all, method)?;
        }
        return Ok((Json::from_text(message.text)?, Vec::new()));
    }
    let method = named.ok_or(ConversionError::UnknownRequest)?;
    let route = &of_all.of_method(method, context.sender);
    if kind.is_none() {
        return convert_answer(message, method, route, context);
    }
    if let Err(unclear) = sender(route, method, context) {
        // Both may send it: to be asked who did only where that makes a difference.
        let sent_by = |sender| {
            let of_sender = context.clone().sent_by(sender);
            convert_one(message, of_all, &of_sender)
        };
        let client = sent_by(Direction::ClientToServer);
        return if client == sent_by(Direction::ServerToClient) {
            client
        } else {
            Err(unclear)
        };
    }
    convert_parts(message.text, (method, Part::Params), route, context)
}

/// Converts the params or the result of a message, and the message as a whole by each step that does so.
fn convert_parts(
    text: &str,
    (method, part): (&str, Part),
    route: &Route,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    let sender = sender(route, method, context)?;
    let mut steps = route.steps();
    let whole = steps.find_map(|ends| {
        let (pair, _) = route.step(ends)?;
        let name = name_at(route, ends.0, method, context);
        let is_up = ends.0 < ends.1;
        Some((pair.whole(name, sender, part, is_up)?, name, ends))
    });
    let Some((whole, name, (before, after))) = whole else {
        return convert_part(text, (method, part), route, context);
    };
    let to_it = route.between_places(route.from, before);
    let (json, mut losses) = convert_part(text, (method, part), &to_it, context)?;
    let by_it = route.between_places(before, after);
    // The step may end a message of this method, whatever it says.
    convert_part(json.text(), (name, part), &by_it, context)?;
    let cx = context.conversion.clone();
    let (json, more) = by_it.convert_until(Subject::Type(whole), after, json.text(), cx)?;
    losses.extend(more);
    let from_it = route.between_places(after, route.to);
    let name = name_at(&by_it, after, name, context);
    let (json, more) = convert_parts(json.text(), (name, part), &from_it, context)?;
    losses.extend(more);
    Ok((json, losses))
}

/// Converts the params or the result of a message on a way without a step that converts the message as a whole.
fn convert_part(
    text: &str,
    (method, part): (&str, Part),
    route: &Route,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    if route.is_untouched() {
        return Ok((Json::from_text(text)?, Vec::new()));
    }
    let mut members: Extra = mcp_wire::from_str(text)?;
    let (name, none) = match part {
        Part::Params => ("params", "{}"),
        Part::Result => ("result", "null"),
    };
    let given = members.get(name).cloned();
    let text = given.as_ref().map_or(none, Json::text);
    let (converted, losses) = convert_member(method, part, text, route, context)?;
    if part == Part::Params {
        let name = name_at(route, route.to, method, context);
        return Ok((with_method(members, name, converted), losses));
    }
    members.insert(name, converted);
    Ok((Json::of(&members), losses))
}

/// Converts the result or the error that answers a method.
fn convert_answer(
    message: &Peeked<'_>,
    method: &str,
    route: &Route,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    check_answered(route, method)?;
    if message.result.is_some() {
        return convert_parts(message.text, (method, Part::Result), route, context);
    }
    let mut members: Extra = mcp_wire::from_str(message.text)?;
    if message.id.is_none() {
        members.remove("id");
    }
    reads_as_error(route, route.from, &Json::of(&members))?;
    let error = mcp_wire::from_str(message.error.map_or("{}", Raw::text))?;
    let cx = context.conversion.clone().within("error");
    let (error, losses) = route.convert_error(method, error, cx)?;
    members.insert("error", Json::of(&error));
    let message = Json::of(&members);
    with_id(route, &message)?;
    Ok((message, losses))
}

/// Converts the params or the result of a message, unless it is embedded in a result somewhere on the way.
fn convert_member(
    method: &str,
    part: Part,
    text: &str,
    route: &Route,
    context: &MessageContext<'_>,
) -> Conversion<Json> {
    let member = match part {
        Part::Params => "params",
        Part::Result => "result",
    };
    let sender = sender(route, method, context)?;
    let subject = Subject::Method(method, part, sender);
    let crossing = crossing(method, route, context);
    let end = crossing.as_ref().map_or(route.to, |(before, _)| *before);
    let cx = context.conversion.clone().within(member);
    let outcome = route.convert_until(subject, end, text, cx);
    let converted = outcome.map_err(|error| error.within(&format!("/{member}")))?;
    match crossing {
        Some((_, needs)) => Err(ConversionError::RequiresState(needs)),
        None => Ok(converted),
    }
}

/// Returns the text of a request or a notification with another name and other params: what had none goes without, unless the
/// conversion put something there.
pub(crate) fn with_method(mut members: Extra, name: &str, params: Json) -> Json {
    let had_none = members.get("params").is_none_or(Json::is_null);
    if had_none && params.text() == "{}" {
        members.remove("params")
    } else {
        members.insert("params", params)
    };
    members.insert("method", Json::of(name));
    Json::of(&members)
}

/// Returns the name of a method at a place of the route.
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

/// Finds the step behind which a request of the server is sent inside a result. Returns the index of the last place where the
/// request is a message, and the state that the step needs.
fn crossing(
    method: &str,
    route: &Route,
    context: &MessageContext<'_>,
) -> Option<(usize, RequiresState)> {
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
    let rule = pair.hands_to(Adapter::MultiRoundTrip, name(before));
    Some((before, embedded_by(rule.map_or("", |rule| rule.id()), step)))
}

/// Returns the state that a request needs which a rule embeds in a result in this step.
pub(crate) fn embedded_by(rule: &'static str, step: &'static str) -> RequiresState {
    RequiresState {
        adapter: Adapter::MultiRoundTrip,
        rule,
        step,
        pointer: String::new(),
    }
}

/// Returns the rejection of a message that a revision does not have.
pub(crate) fn no_counterpart(why: String, step: &'static str, pointer: &str) -> ConversionError {
    ConversionError::Rejected(Box::new(Rejected {
        error: ErrorObject::new(ErrorObject::INVALID_REQUEST, why),
        rule: Rule::NO_COUNTERPART.id(),
        step,
        pointer: pointer.to_owned(),
    }))
}

/// Refuses an error that goes to a revision in which every error has the id of its request.
fn with_id(route: &Route, message: &Json) -> Result<(), ConversionError> {
    let refused = route.steps().find_map(|ends| {
        let error = reads_as_error(route, ends.1, message).err()?;
        let (_, step) = route.step(ends)?;
        Some((error, step, ends.1))
    });
    let Some((error, step, after)) = refused else {
        return Ok(());
    };
    let title = route.title(after);
    let why = format!("an error response that {title} does not have: {error}");
    Err(no_counterpart(why, step, "/id"))
}

/// Checks that a text is an error response at a place on the way.
fn reads_as_error(route: &Route, at: usize, text: &Json) -> Result<(), Error> {
    let names = ["JSONRPCErrorResponse", "JSONRPCError"];
    match names.iter().find_map(|name| route.type_named(at, name)) {
        Some(ty) => ty.read(text.text()).map(drop),
        None => Ok(()),
    }
}

/// Checks that a message of a method is one that a peer of this protocol may send: of the kind that the method has, and by this
/// sender, if that is known. A method that the protocol lacks passes. Fails for another kind, another sender, and a request of
/// a server that stands in a result there.
pub fn check_sent(
    of: Protocol,
    method: &str,
    kind: MethodKind,
    sender: Option<Direction>,
) -> Result<(), Diagnostic> {
    let rows = || of.methods().iter().filter(|row| row.name == method);
    let is_sent = |row: &&MethodInfo| sender.is_none_or(|sender| sender == row.direction);
    if rows().next().is_none() || rows().filter(is_sent).any(|row| row.kind == kind) {
        return Ok(());
    }
    if let (Some(sender), true) = (sender, rows().any(|row| row.kind == kind)) {
        let title = of.title();
        let (other, found) = (peer(sender.back()), peer(sender));
        return Err(Diagnostic::new(
            "/method",
            format!("a method that the {found} sends in {title}"),
            format!("`{method}`, which only the {other} sends"),
        ));
    }
    let row = rows().find(is_sent).or_else(|| rows().next());
    Err(match row.map(|row| row.kind) {
        Some(MethodKind::Input) => embedded(of, method),
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
    })
}

/// Returns the name of a sender.
fn peer(sender: Direction) -> &'static str {
    match sender {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

fn embedded(of: Protocol, method: &str) -> Diagnostic {
    Diagnostic::new(
        "/method",
        format!("a method that is a message of its own in {}", of.title()),
        format!("`{method}`, which stands in a result, and its answer in the next request"),
    )
}

/// Checks that a method is one that a response can answer. Fails for a method that is not there where the route begins, or that
/// nothing answers. An extension has the methods of its revision that one of its types may answer: `tools/call` by
/// `CreateTaskResult`.
pub fn check_answered(route: &Route, method: &str) -> Result<(), ConversionError> {
    let rows = route.methods(route.from, method);
    let kinds: Vec<MethodKind> = rows.map(|row| row.kind).collect();
    match kinds.first() {
        _ if kinds.contains(&MethodKind::Request) => Ok(()),
        _ if route.extension_result(method).is_some() => Ok(()),
        None => Err(ConversionError::Unknown(format!(
            "no method `{method}` in {}",
            route.title(route.from)
        ))),
        Some(MethodKind::Input) => Err(embedded(route.beginning(), method).into()),
        Some(_) => Err(ConversionError::Unknown(format!(
            "`{method}` is a notification, and nothing answers it"
        ))),
    }
}

/// Returns the sender of a method: as given, or the only one where the route begins.
pub(crate) fn sender(
    route: &Route,
    method: &str,
    context: &MessageContext<'_>,
) -> Result<Option<Direction>, ConversionError> {
    if context.sender.is_some() {
        return Ok(context.sender);
    }
    let rows = route.methods(route.from, method);
    let mut directions = rows.map(|row| (row.direction, row.kind));
    match (directions.next(), directions.next()) {
        (Some((direction, _)), None) => Ok(Some(direction)),
        (Some((_, MethodKind::Notification)), Some(_)) => {
            Err(ConversionError::UnknownSender(method.to_owned()))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use mcp_convert::dynamic::{Convert, Pair, TypeStep, WholeMessage};
    use mcp_revisions_tables::types::v2026_07_28::ListToolsRequest;
    use mcp_revisions_tables::values::TABLES;
    use mcp_revisions_tables::{Revision, Tables, methods};

    use super::*;

    /// A conversion that puts a member beside the params, as a newer revision may ask for one.
    fn with_priority(mut request: ListToolsRequest) -> ListToolsRequest {
        request.extra.insert("priority", Json::of(&7));
        request
    }

    #[test]
    fn a_step_that_converts_a_message_as_a_whole_sees_what_stands_beside_its_params() {
        let latest = Revision::V2026_07_28;
        let mut all = TABLES.revisions.iter();
        let row = all.find(|row| row.id == latest.id()).unwrap();
        let mut methods = row.methods.iter();
        let method = methods.find(|row| row.name == methods::TOOLS_LIST).unwrap();
        let params = row.type_named(method.params.unwrap()).unwrap().rust_name;
        let step = |ty: &'static str, run: Option<&'static dyn Convert>| TypeStep {
            from: ty,
            to: ty,
            run,
        };
        let run: fn(ListToolsRequest) -> ListToolsRequest = with_priority;
        let up = vec![
            step(params, None),
            step(method.message, Some(Box::leak(Box::new(run)))),
        ];
        // As if the revision after it were alike but for that member.
        let pair = |wholes: &'static [WholeMessage], up: Vec<TypeStep>| Pair {
            old: "older",
            new: "newer",
            up_step: "older..newer",
            down_step: "newer..older",
            up: Vec::leak(up),
            down: &[],
            alike: &[],
            methods: &[],
            renamed: &[],
            wholes,
            errors: &[],
            instead: &[],
            open_results: None,
            rules: &[],
        };
        let whole = WholeMessage {
            method: methods::TOOLS_LIST,
            direction: Direction::ClientToServer,
            part: Part::Params,
            old: method.message,
            new: method.message,
        };
        let pairs = vec![
            pair(&[], vec![step(params, None)]),
            pair(Vec::leak(vec![whole]), up),
            pair(&[], vec![step(params, None)]),
        ];
        let tables = Tables::new(Vec::leak(vec![*row; 4]), Vec::leak(pairs));
        let tables: &'static Tables = Box::leak(Box::new(tables));
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"cursor":"c"}}"#;
        let converted = |from: usize, to: usize| {
            let route = Route::by_tables(tables, latest, (from, to));
            let messages = read_messages(text).unwrap();
            let message = messages.all[0].as_ref().unwrap();
            convert_one(message, &route, &MessageContext::default()).unwrap()
        };
        for (from, to, priority) in [(0, 1, None), (1, 2, Some("7")), (0, 3, Some("7"))] {
            let (json, losses) = converted(from, to);
            let found = json.get("priority").map(|it| it.text().to_owned());
            assert_eq!(found.as_deref(), priority, "{from}..{to}");
            let cursor = json.get("params").and_then(|params| params.get("cursor"));
            assert_eq!(cursor.unwrap().text(), "\"c\"", "{from}..{to}");
            assert!(losses.is_empty(), "{losses:?}");
        }
    }
}
