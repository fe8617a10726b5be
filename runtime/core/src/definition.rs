//! Definitions that are whole messages, such as `CallToolRequest`: with an envelope or without one; `mcp-rev convert` reads them.

use mcp_revisions_tables::{Adapter, Part, Subject};
use mcp_wire::{Extra, Json, MethodKind};

use crate::diagnostic::{Conversion, ConversionError};
use crate::message::{MessageContext, embedded_by, name_at, no_counterpart, sender, with_method};
use crate::route::Route;

/// Converts the definition of a request or a notification that has no envelope: a method and its params. Fails as
/// [`convert_message`](crate::convert_message).
pub fn convert_bare(text: &str, route: &Route, context: &MessageContext<'_>) -> Conversion<Json> {
    if route.is_untouched() {
        return Ok((Json::from_text(text)?, Vec::new()));
    }
    let cx = context.conversion.clone();
    let members: Extra = mcp_wire::from_str(text)?;
    let named = members.get("method").and_then(Json::as_str);
    let method = named.map(|method| method.to_string()).unwrap_or_default();
    let given = members.get("params").cloned();
    let text = given.as_ref().map_or("{}", Json::text);
    let subject = Subject::Method(&method, Part::Params, sender(route, &method, context)?);
    let converted = route.convert_until(subject, route.to, text, cx.within("params"));
    let (params, losses) = converted.map_err(|error| error.within("/params"))?;
    let name = |at| name_at(route, at, &method, context);
    let to = route.to;
    let value = with_method(members, name(to), params);
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
        return Ok((value, losses));
    };
    let mut rows = route.methods(before, name(before));
    let was_embedded = rows.any(|row| row.kind == MethodKind::Input);
    let rule = pair.hands_to(Adapter::MultiRoundTrip, name(before));
    if let (true, Some(rule)) = (was_embedded, rule) {
        let needs = embedded_by(rule.id(), step);
        return Err(ConversionError::RequiresState(needs));
    }
    let title = route.title(after);
    let why = format!("{title} has it as a whole message only: {error}");
    Err(no_counterpart(why, step, ""))
}
