//! One look at a message: what it is, which request, which method, which revision it claims, and where its parts are.
//!
//! Nothing is typed and nothing is copied (but a method spelt with escapes); one scan checks the grammar of the whole
//! text on the way.
//! `params` and `result` stay spans of the text, to be read once it is settled in which revision.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Error, ErrorKind};
use crate::fault::{Fault, FaultCause};
use crate::id::RequestId;
use crate::json::{Elements, Json};
use crate::kind::Kind;
use crate::meta;
use crate::number::Integer;
use crate::object::Members;
use crate::reader::Reader;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Has `method` and `id`.
    Request,
    /// Has `method` and no `id`.
    Notification,
    /// Has `result`.
    Response,
    /// Has `error`.
    Error,
    /// An array, which only revision 2025-03-26 allows; look at its [`elements`](Peeked::elements) one by one.
    Batch,
}

/// The text of one JSON value inside a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Returns the text.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }

    /// Returns the value of a string, or `None` for any other value; borrowed if it has no escapes.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        Reader::new(self.0).text_of_string().ok()
    }

    /// Returns the value by itself. The look at the message has found it to be JSON, so that it is not looked at again.
    #[must_use]
    pub fn to_json(self) -> Json {
        Json::verbatim(self.0)
    }

    fn is_null(self) -> bool {
        self.0 == "null"
    }
}

/// The id of a request, as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawId<'a>(&'a str);

impl<'a> RawId<'a> {
    /// Returns the text, quotes included.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }

    /// Returns the id by itself; `None` for a string that holds half of a surrogate pair.
    #[must_use]
    pub fn to_id(self) -> Option<RequestId> {
        crate::from_str(self.0).ok()
    }
}

/// What one look at a message says; everything is borrowed from its text.
///
/// Members that are `null` count as absent, but for the `id` of a request, and a `result` without a `method` or an `error`.
#[derive(Debug, Clone, PartialEq)]
pub struct Peeked<'a> {
    /// The whole text.
    pub text: &'a str,
    /// What it is.
    pub kind: MessageKind,
    /// The id; of an error also absent.
    pub id: Option<RawId<'a>>,
    /// The method of a request or a notification; borrowed unless it is spelt with escapes.
    pub method: Option<Cow<'a, str>>,
    /// The params.
    pub params: Option<Raw<'a>>,
    /// `params.name`, which a header repeats in per-request revisions.
    pub name: Option<Raw<'a>>,
    /// `params.uri`, which a header repeats, too.
    pub uri: Option<Raw<'a>>,
    /// `params.requestState`: a request that is made again, with the answers to what its receiver asked.
    pub request_state: Option<Raw<'a>>,
    /// What `params._meta` says in keys of the protocol.
    pub meta: PeekedMeta<'a>,
    /// The result of a response.
    pub result: Option<Raw<'a>>,
    /// The error of an error response.
    pub error: Option<Raw<'a>>,
}

/// The keys of `params._meta` that belong to the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PeekedMeta<'a> {
    /// The protocol version in `_meta`, which only messages of per-request revisions have.
    pub protocol_version: Option<Raw<'a>>,
    /// What the client can do, for this request.
    pub client_capabilities: Option<Raw<'a>>,
    /// Who the client is.
    pub client_info: Option<Raw<'a>>,
    /// The least level of log notifications that the request asks for.
    pub log_level: Option<Raw<'a>>,
    /// The token of progress notifications.
    pub progress_token: Option<Raw<'a>>,
}

/// Why a text is not a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Unreadable {
    /// Not JSON; to be answered with -32700.
    NotJson(Error),
    /// JSON, but no message of JSON-RPC; to be answered with -32600, and the id where it could be made out.
    NotAMessage {
        /// What is wrong with it.
        error: Error,
        /// The id, if it is one.
        id: Option<Box<RequestId>>,
    },
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(error) => write!(f, "not JSON: {error}"),
            Self::NotAMessage { error, .. } => write!(f, "not a JSON-RPC message: {error}"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// Looks at a message. A byte order mark before it is skipped: programs on Windows write one.
///
/// ```
/// use mcp_wire::{MessageKind, peek};
///
/// let text = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"p"}}}"#;
/// let seen = peek(text)?;
/// assert_eq!(seen.kind, MessageKind::Request);
/// assert_eq!(seen.method.as_deref(), Some("tools/call"));
/// assert_eq!(seen.meta.progress_token.unwrap().text(), "\"p\"");
/// # Ok::<(), mcp_wire::Unreadable>(())
/// ```
///
/// # Errors
/// A text that is not JSON, or no message.
pub fn peek(bytes: &[u8]) -> Result<Peeked<'_>, Unreadable> {
    match peek_plain(bytes) {
        Err(error) => behind_mark(bytes, error),
        seen => seen,
    }
}

#[cold]
fn behind_mark(bytes: &[u8], error: Unreadable) -> Result<Peeked<'_>, Unreadable> {
    match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => peek_plain(rest),
        None => Err(error),
    }
}

/// How a text begins that says in which order its bytes are.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[inline(always)]
fn peek_plain(bytes: &[u8]) -> Result<Peeked<'_>, Unreadable> {
    let text = crate::checked_utf8(bytes).map_err(Unreadable::NotJson)?;
    let mut reader = Reader::new(text);
    match look(text, &mut reader) {
        Ok(seen) => match reader.finish() {
            Ok(()) => Ok(seen),
            Err(fault) => Err(unreadable(text, &fault)),
        },
        Err(fault) => Err(unreadable(text, &fault)),
    }
}

/// Returns the error of a text with this fault: it is not JSON, or not a message, with its id.
#[cold]
fn unreadable(text: &str, fault: &Fault) -> Unreadable {
    let mut reader = Reader::new(text);
    match reader.skip().and_then(|()| reader.finish()) {
        Err(fault) => {
            let error = Error::new(&fault, text);
            // Too deep is a limit of the reader, not a matter of grammar.
            if error.kind() == ErrorKind::Depth {
                return Unreadable::NotAMessage { error, id: None };
            }
            Unreadable::NotJson(error)
        }
        Ok(()) => Unreadable::NotAMessage {
            error: Error::new(fault, text),
            id: id_of(text).map(Box::new),
        },
    }
}

/// Returns the id of what is not a message otherwise.
fn id_of(text: &str) -> Option<RequestId> {
    static MEMBERS: Members = Members::ignoring("message", &["id"]);
    let mut reader = Reader::new(text);
    let mut object = reader.object(&MEMBERS).ok()?;
    let mut id = None;
    while object.next(&mut reader).ok()?.is_some() {
        id = crate::from_str(reader.text_of_value().ok()?).ok();
    }
    id
}

#[inline(always)]
fn look<'a>(text: &'a str, reader: &mut Reader<'a>) -> Result<Peeked<'a>, Fault> {
    static MEMBERS: Members = Members::ignoring(
        "JSON-RPC message",
        &["jsonrpc", "id", "method", "params", "result", "error"],
    );
    let mut seen = Peeked {
        text,
        kind: MessageKind::Batch,
        id: None,
        method: None,
        params: None,
        name: None,
        uri: None,
        request_state: None,
        meta: PeekedMeta::default(),
        result: None,
        error: None,
    };
    if reader.kind()? == Kind::Array {
        reader.skip()?;
        return Ok(seen);
    }
    let mut null_id = None;
    let mut object = reader.object(&MEMBERS)?;
    while let Some(member) = object.next(reader)? {
        match member {
            0 => reader.constant("2.0")?,
            1 => match id(text, reader)? {
                Ok(id) => seen.id = Some(id),
                Err(offset) => null_id = Some(offset),
            },
            2 => seen.method = Some(reader.text_of_string()?),
            3 => params(text, reader, &mut seen)?,
            4 => seen.result = Some(Raw(reader.text_of_value()?)),
            _ => seen.error = some(reader.text_of_value()?),
        }
    }
    object.require_seen(0)?;
    // Some write all members of a response: beside another one `null` is none.
    if seen.error.is_some() || seen.method.is_some() {
        seen.result = seen.result.filter(|result| !result.is_null());
    }
    seen.kind = match (&seen.method, seen.result, seen.error) {
        (Some(_), None, None) => match (seen.id, null_id) {
            (_, Some(offset)) => return Err(reader.refuse_at(offset, "a string or an integer")),
            (Some(_), None) => MessageKind::Request,
            (None, None) => MessageKind::Notification,
        },
        (None, Some(_), None) if seen.id.is_some() => MessageKind::Response,
        (None, Some(_), None) => return Err(object.missing(1)),
        (None, None, Some(_)) => MessageKind::Error,
        (None, None, None) => return Err(object.missing(2)),
        _ => {
            let one = "one of `method`, `result` and `error`";
            return Err(Fault::new(object.offset(), FaultCause::Conflict(one)));
        }
    };
    Ok(seen)
}

/// Returns the id, or where `null` stands in its place.
#[inline]
fn id<'a>(text: &'a str, reader: &mut Reader<'a>) -> Result<Result<RawId<'a>, usize>, Fault> {
    let raw = reader.text_of_value()?;
    let start = reader.offset() - raw.len();
    match raw.as_bytes().first() {
        Some(b'"') => Ok(Ok(RawId(raw))),
        Some(b'n') => Ok(Err(start)),
        Some(b'-' | b'0'..=b'9') => {
            let plain = raw
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit());
            // `1.0` and `1e3` are integers too.
            if plain || crate::from_str::<Integer>(raw).is_ok() {
                return Ok(Ok(RawId(raw)));
            }
            Err(Reader::new(text).refuse_at(start, "a string or an integer"))
        }
        _ => Err(Reader::new(text).refuse_at(start, "a string or an integer")),
    }
}

fn some(raw: &str) -> Option<Raw<'_>> {
    Some(Raw(raw)).filter(|raw| !raw.is_null())
}

#[inline]
fn params<'a>(text: &'a str, reader: &mut Reader<'a>, seen: &mut Peeked<'a>) -> Result<(), Fault> {
    static PARAMS: Members = Members::ignoring("params", &["_meta", "name", "uri", "requestState"]);
    static META: Members = Members::ignoring("_meta", &meta::KEYS);
    match reader.kind()? {
        Kind::Object => {}
        Kind::Array | Kind::Null => {
            seen.params = some(reader.text_of_value()?);
            return Ok(());
        }
        _ => return Err(reader.refuse("an object or an array")),
    }
    let mut object = reader.object(&PARAMS)?;
    while let Some(member) = object.next(reader)? {
        match member {
            0 if reader.kind()? == Kind::Object => {
                let mut object = reader.object(&META)?;
                while let Some(key) = object.next(reader)? {
                    let value = some(reader.text_of_value()?);
                    let meta = &mut seen.meta;
                    *match key {
                        0 => &mut meta.protocol_version,
                        1 => &mut meta.client_capabilities,
                        2 => &mut meta.client_info,
                        3 => &mut meta.log_level,
                        _ => &mut meta.progress_token,
                    } = value;
                }
            }
            0 => reader.skip()?,
            1 => seen.name = some(reader.text_of_value()?),
            2 => seen.uri = some(reader.text_of_value()?),
            _ => seen.request_state = some(reader.text_of_value()?),
        }
    }
    seen.params = text.get(object.offset()..reader.offset()).map(Raw);
    Ok(())
}

impl<'a> Peeked<'a> {
    /// Returns a member of the params.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<Json> {
        self.params?.to_json().get(name)
    }

    /// Returns the texts of the messages of a batch, in order; no texts for any other message.
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        Elements::of(match self.kind {
            MessageKind::Batch => self.text,
            _ => "[]",
        })
    }
}
