//! Texts that are not a message: the request that each of them was to answer, and why it does not.

use mcp_wire::{Members, Peeked, Reader, RequestId, Unreadable, peek};

use crate::Ignored;
use crate::ask::own_id;
use crate::mistakes::batch;
use crate::quote::quotable;

/// Number of bytes at the beginning of a text that are quoted.
const BEGINNING: usize = 400;
/// The mark at the beginning of a text that names the order of its bytes.
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Number of bytes looked at, at the end of a text that was cut.
const TAIL: usize = 128;

/// Looks at a text. Fails for a text that is not a message.
pub(crate) fn look(bytes: &[u8]) -> Result<Peeked<'_>, Ignored> {
    peek(bytes).map_err(|error| unreadable(bytes, error))
}

/// Returns a text that is not a message, with its beginning.
#[cold]
pub(crate) fn unreadable(bytes: &[u8], error: Unreadable) -> Ignored {
    let beginning = bytes.get(..BEGINNING).unwrap_or(bytes);
    Ignored::Unreadable(error, quotable(&String::from_utf8_lossy(beginning)))
}

/// Returns the reason why a text is not an answer; `None` for a text that answers nothing.
pub(crate) fn why(ignored: &Ignored, limit: usize) -> Option<String> {
    match ignored {
        Ignored::Unreadable(unreadable, beginning) => {
            Some(format!("{unreadable}; it begins with \"{beginning}\""))
        }
        Ignored::TooLong(_) => Some(format!("it is longer than {limit} bytes")),
        Ignored::Batch(length) => Some(format!("it is {}", batch(*length))),
        _ => None,
    }
}

/// Returns the request that a text was to answer, as far as that shows in a text that is not a whole message.
pub(crate) fn answered(bytes: &[u8]) -> Option<i64> {
    let decoded = String::from_utf8_lossy(bytes);
    let text = decoded.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&decoded);
    let mut seen = SeenMembers::default();
    seen.look(text);
    if seen.id.is_none() {
        // Many write the id last, which is behind what was cut.
        let from = text.len().saturating_sub(TAIL);
        let from = (from..text.len()).find(|at| text.is_char_boundary(*at))?;
        let tail = text.get(from..)?;
        let last = format!("{{{}", tail.get(tail.rfind("\"id\"")?..)?);
        let mut end = SeenMembers::default();
        end.is_whole(&last).then_some(())?;
        seen.id = end.id;
    }
    seen.id.filter(|_| seen.is_answer && !seen.is_call)
}

/// Returns the id of the request that a text is meant to be, as far as that can be read; `None` if it is meant as no request.
pub(crate) fn request_of(bytes: &[u8]) -> Option<Option<RequestId>> {
    let mut seen = SeenMembers::default();
    seen.look(&String::from_utf8_lossy(bytes));
    seen.name.filter(|_| seen.is_call && !seen.has_outcome)
}

/// Returns whether a text is meant as an answer: it has a result or an error, and calls no method.
pub(crate) fn is_answer(bytes: &[u8]) -> bool {
    let mut seen = SeenMembers::default();
    seen.look(&String::from_utf8_lossy(bytes));
    seen.has_outcome && !seen.is_call
}

/// The members that a text shows before it breaks off.
#[derive(Default)]
struct SeenMembers {
    id: Option<i64>,
    /// The id of a request of the peer, or that it cannot be read.
    name: Option<Option<RequestId>>,
    is_call: bool,
    is_answer: bool,
    has_outcome: bool,
}

impl SeenMembers {
    fn look(&mut self, text: &str) {
        let mut reader = Reader::new(text);
        let _ = self.members(&mut reader);
    }

    fn is_whole(&mut self, text: &str) -> bool {
        let mut reader = Reader::new(text);
        self.members(&mut reader) && reader.finish().is_ok()
    }

    /// Reads members up to the end of the object; whether it has one.
    fn members(&mut self, reader: &mut Reader<'_>) -> bool {
        static MEMBERS: Members = Members::ignoring(
            "message",
            &["id", "method", "params", "jsonrpc", "result", "error"],
        );
        let Ok(mut object) = reader.object(&MEMBERS) else {
            return false;
        };
        loop {
            let member = match object.next(reader) {
                Ok(Some(member)) => member,
                Ok(None) => return true,
                Err(_) => return false,
            };
            match member {
                0 => {}
                1 | 2 => self.is_call = true,
                _ => {
                    self.is_answer = true;
                    self.has_outcome |= member != 3;
                }
            }
            let Ok(value) = reader.text_of_value() else {
                return false;
            };
            if member == 0 {
                let id: Option<RequestId> = mcp_wire::from_str(value).ok();
                self.id = id.as_ref().and_then(own_id);
                self.name = Some(id);
            }
        }
    }
}
