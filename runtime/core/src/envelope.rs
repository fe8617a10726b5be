//! The JSON-RPC envelope of a text: one message, or the messages of a batch, each checked as far as JSON-RPC goes.

use mcp_wire::{
    Error, ErrorObject, Extra, MessageKind, Peeked, Reader, RequestId, Unreadable, peek,
};

use crate::diagnostic::Diagnostic;

/// The messages of a text.
#[derive(Debug)]
pub struct ReadMessages<'t> {
    /// In their order; of a batch each by itself, readable or not.
    pub all: Vec<Result<Peeked<'t>, Diagnostic>>,
    /// Whether they stand in an array.
    pub is_batch: bool,
}

/// Reads a text as a message or a batch. Fails for a text that is neither; an element of a batch that is not a message has its
/// error in its place.
pub fn read_messages(text: &str) -> Result<ReadMessages<'_>, Diagnostic> {
    let whole = look("", text)?;
    if whole.kind != MessageKind::Batch {
        return Ok(ReadMessages {
            all: vec![Ok(whole)],
            is_batch: false,
        });
    }
    let refused = |place: &str, text: &str, expected| {
        Diagnostic::of_error(
            place,
            &Error::new(&Reader::new(text).refuse(expected), text),
        )
    };
    let element = |(index, text)| {
        let place = format!("/{index}");
        match look(&place, text)? {
            message if message.kind != MessageKind::Batch => Ok(message),
            _ => Err(refused(&place, text, "a JSON-RPC message")),
        }
    };
    let elements = whole.elements().enumerate().map(element);
    let all: Vec<Result<Peeked<'_>, Diagnostic>> = elements.collect();
    if all.is_empty() {
        Err(refused("", text, "at least one message"))
    } else {
        Ok(ReadMessages {
            all,
            is_batch: true,
        })
    }
}

/// Looks at the text that stands at a place, and reads its id, its error and the names of its members.
fn look<'t>(place: &str, text: &'t str) -> Result<Peeked<'t>, Diagnostic> {
    let at = |member: &str, error: &Error| Diagnostic::of_error(&format!("{place}{member}"), error);
    let message = peek(text.as_bytes()).map_err(|unreadable| match unreadable {
        Unreadable::NotJson(error) | Unreadable::NotAMessage { error, .. } => at("", &error),
    })?;
    if message.kind != MessageKind::Batch {
        mcp_wire::from_str::<Extra>(text).map_err(|error| at("", &error))?;
    }
    if let Some(id) = message.id {
        mcp_wire::from_str::<RequestId>(id.text()).map_err(|error| at("/id", &error))?;
    }
    if let Some(error) = message.error {
        mcp_wire::from_str::<ErrorObject>(error.text()).map_err(|error| at("/error", &error))?;
    }
    Ok(message)
}
