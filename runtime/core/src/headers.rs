//! The HTTP headers of a message, and whether they agree with its body.
//!
//! In the per-request lifecycle `MCP-Protocol-Version`, `Mcp-Method` and, for three methods, `Mcp-Name` repeat the body, so
//! that gateways can route without reading it; a server has to refuse what differs.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::errors::{self, Refusal};
use mcp_revisions_tables::{Extension, Revision};
use mcp_wire::{Direction, MethodInfo, MethodKind, Peeked, Raw};

/// The name of the header that says the revision.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The name of the header that repeats the method.
pub const METHOD: &str = "Mcp-Method";
/// The name of the header that repeats `params.name` or `params.uri`.
pub const NAME: &str = "Mcp-Name";
/// The name of the header that holds the session, up to 2025-11-25.
pub const SESSION_ID: &str = "Mcp-Session-Id";
/// The name of the header that names the event after which a stream goes on, up to 2025-11-25.
pub const LAST_EVENT_ID: &str = "Last-Event-ID";

/// The member of the params of a request about a task, which [`NAME`] repeats.
pub const TASK_ID: &str = "taskId";

/// The value that stands for a header whose bytes are not text: no body could say it.
pub const UNREADABLE: &str = "=?base64?!?=";

/// The headers of a POST that matter to the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers<'a> {
    /// `MCP-Protocol-Version`.
    pub protocol_version: Option<&'a str>,
    /// `Mcp-Method`.
    pub method: Option<&'a str>,
    /// `Mcp-Name`, as it stands there.
    pub name: Option<&'a str>,
    /// Who is behind the request, if an authorisation layer has found out; not a header at all.
    pub principal: Option<&'a str>,
    /// One that came twice, saying two things.
    conflict: Option<&'static str>,
}

impl<'a> Headers<'a> {
    /// Picks them from all headers; names compare without case.
    pub fn from_pairs<'n>(pairs: impl IntoIterator<Item = (&'n str, &'a str)>) -> Self {
        let mut headers = Self::default();
        for (name, value) in pairs {
            let (known, place) = if name.eq_ignore_ascii_case(PROTOCOL_VERSION) {
                (PROTOCOL_VERSION, &mut headers.protocol_version)
            } else if name.eq_ignore_ascii_case(METHOD) {
                (METHOD, &mut headers.method)
            } else if name.eq_ignore_ascii_case(NAME) {
                (NAME, &mut headers.name)
            } else {
                continue;
            };
            // Blanks around a value are not part of it.
            let trimmed = value.trim_matches([' ', '\t']);
            if place
                .replace(trimmed)
                .is_some_and(|before| before != trimmed)
            {
                headers.conflict = Some(known);
            }
        }
        headers
    }

    /// Refuses headers of a per-request message that differ from its body.
    ///
    /// # Errors
    /// -32020 with status 400, which names the header.
    pub(crate) fn agree_with(&self, message: &Peeked<'_>) -> Result<(), Box<Refusal>> {
        if let Some(name) = self.conflict {
            return Err(errors::header_mismatch(&format!(
                "{name} came twice with different values"
            )));
        }
        let claim = message.meta.protocol_version.and_then(Raw::as_str);
        same(
            PROTOCOL_VERSION,
            self.protocol_version.map(Cow::Borrowed),
            claim.as_deref(),
        )?;
        let method = message.method.as_deref();
        same(METHOD, self.method.map(Cow::Borrowed), method)?;
        let revision = claim.as_deref().and_then(Revision::from_protocol_version);
        let member = named_by(
            revision.unwrap_or(Revision::LATEST),
            method.unwrap_or_default(),
        );
        // A body without the name fails for that, not for its header.
        let Some(named) = member.and_then(|member| text_of(message, member)) else {
            return Ok(());
        };
        let header = match self.name.map(decoded) {
            Some(None) => {
                return Err(errors::header_mismatch(
                    "Mcp-Name is not what base64 of UTF-8 gives",
                ));
            }
            header => header.flatten(),
        };
        same(NAME, header, Some(&named))
    }
}

/// Returns the member of a request's params that names its subject, which [`NAME`] repeats.
#[must_use]
pub fn named_by(revision: Revision, method: &str) -> Option<&'static str> {
    let of_extensions = Extension::of(revision).flat_map(|extension| extension.methods);
    let mut rows = revision.methods().iter().chain(of_extensions);
    let is_its = |row: &&MethodInfo| {
        let asks = (row.direction, row.kind) == (Direction::ClientToServer, MethodKind::Request);
        asks && row.name == method
    };
    rows.find(is_its)?.named_by
}

/// Returns a text among the params: where the look at the message did not stop at it, by a look for it.
fn text_of<'m>(message: &Peeked<'m>, member: &str) -> Option<Cow<'m, str>> {
    match member {
        "name" => message.name.and_then(Raw::as_str),
        "uri" => message.uri.and_then(Raw::as_str),
        _ => Some(Cow::Owned(message.param(member)?.read().ok()?)),
    }
}

fn same(name: &str, header: Option<Cow<'_, str>>, body: Option<&str>) -> Result<(), Box<Refusal>> {
    match header {
        Some(header) if Some(&*header) == body => Ok(()),
        Some(_) => Err(errors::header_mismatch(&format!(
            "{name} is not what the body says"
        ))),
        None => Err(errors::header_mismatch(&format!("{name} is missing"))),
    }
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// Writes a text as the value of `Mcp-Name`: plain where every character may stand in a header, else base64 in its frame.
#[must_use]
pub fn encoded(text: &str) -> Cow<'_, str> {
    let visible = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
    let blank = |text: &str| text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let framed = text.starts_with(OPEN) && text.ends_with(CLOSE);
    if text.bytes().all(visible) && !blank(text) && !framed {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", BASE64_STANDARD.encode(text)))
}

/// Reads the value of `Mcp-Name`. Returns `None` if the frame does not hold base64 of UTF-8.
#[must_use]
pub fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let framed = value
        .strip_prefix(OPEN)
        .and_then(|rest| rest.strip_suffix(CLOSE));
    match framed {
        None => Some(Cow::Borrowed(value)),
        Some(inner) => {
            let bytes = BASE64_STANDARD.decode(inner).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn names_are_framed_where_a_header_could_not_hold_them() {
        let cases = [
            ("add", "add"),
            ("a b\tc", "a b\tc"),
            ("", ""),
            ("größe", "=?base64?Z3LDtsOfZQ==?="),
            (" a", "=?base64?IGE=?="),
            ("a\n", "=?base64?YQo=?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ];
        for (text, value) in cases {
            assert_eq!(encoded(text), value);
            assert_eq!(decoded(value).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_base64_of_utf8_is_refused() {
        for value in ["YQ", "YQ=", "Y===", "YR==", "Y Q=", "/w==", "=", "YQ==YQ=="] {
            assert_eq!(decoded(&format!("=?base64?{value}?=")), None, "{value}");
        }
        // Markers are lower-case: anything else is plain.
        assert_eq!(
            decoded("=?BASE64?YQ==?=").as_deref(),
            Some("=?BASE64?YQ==?=")
        );
    }

    #[test]
    fn a_header_that_says_two_things_is_a_conflict() {
        let twice = Headers::from_pairs([("mcp-method", "a"), ("MCP-METHOD", "b")]);
        assert_eq!(twice.conflict, Some(METHOD));
        let same = Headers::from_pairs([("mcp-method", "a"), ("MCP-METHOD", " a ")]);
        assert_eq!((same.conflict, same.method), (None, Some("a")));
    }
}
