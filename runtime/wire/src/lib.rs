//! JSON text to typed values and back, for the messages of the Model Context Protocol (MCP).
//!
//! The generated crates, one for each revision of the protocol, rest on this one:
//! their types implement [`Decode`] and [`Encode`] by a [`Reader`] and a [`Writer`] made for such messages.
//! Nothing is lost on the way: unknown members are kept in [`Extra`], numbers in their spelling
//! ([`Integer`], [`Number`]), and what the protocol does not describe as text ([`Json`]).
//! A text that does not fit is refused with an [`Error`] that says where, what was expected and what was found.
//!
//! ```
//! use mcp_wire::{Decode, Encode, Extra, Fault, Json, Members, Reader, Record, Writer};
//!
//! struct Tool {
//!     name: String,
//!     title: Option<String>,
//!     input_schema: Json,
//!     extra: Extra,
//! }
//!
//! impl Decode for Tool {
//!     fn blank() -> Self {
//!         Self { name: String::new(), title: None, input_schema: Decode::blank(), extra: Extra::new() }
//!     }
//!
//!     fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
//!         static MEMBERS: Members =
//!             Members::open("Tool", &["name", "title", "inputSchema"]).requiring(&[0, 2]);
//!         reader.record(&MEMBERS, self)
//!     }
//! }
//!
//! impl Record for Tool {
//!     fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
//!         match index {
//!             0 => self.name.fill(reader),
//!             1 => self.title.fill(reader),
//!             _ => self.input_schema.fill(reader),
//!         }
//!     }
//!
//!     fn extra(&mut self) -> Option<&mut Extra> {
//!         Some(&mut self.extra)
//!     }
//! }
//!
//! impl Encode for Tool {
//!     fn encode(&self, writer: &mut Writer) {
//!         let mut object = writer.object();
//!         object.member("name", &self.name);
//!         object.optional("title", &self.title);
//!         object.member("inputSchema", &self.input_schema);
//!         object.extra(&self.extra);
//!         object.end();
//!     }
//! }
//!
//! let text = r#"{"name":"add","inputSchema":{"type": "object"},"vendor":1.0}"#;
//! let tool: Tool = mcp_wire::from_str(text)?;
//! assert_eq!(tool.input_schema.text(), r#"{"type": "object"}"#);
//! assert_eq!(mcp_wire::to_string(&tool), text);
//!
//! let error = mcp_wire::from_str::<Vec<Tool>>(r#"[{"name":5}]"#).err().unwrap();
//! assert_eq!(error.to_string(), "at /0/name: expected a string, found 5 (line 1, column 10)");
//! # Ok::<(), mcp_wire::Error>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod args;
mod bridge;
mod cases;
mod codec;
mod debug;
mod decide;
pub mod envelope;
mod error;
mod fault;
mod frame;
mod id;
mod json;
mod kind;
mod map;
pub mod mend;
mod message;
pub mod meta;
pub mod method;
mod number;
mod object;
pub mod pointer;
mod reader;
mod record;
mod scan;
pub mod service;
mod shown;
mod text;
mod variants;
mod writer;

use std::borrow::Cow;

pub use cases::{Paths, Tag};
pub use decide::{Present, TagFound};
pub use envelope::ErrorObject;
pub use envelope::peek::{MessageKind, Peeked, PeekedMeta, Raw, RawId, Unreadable, peek};
pub use error::{Error, ErrorKind};
pub use fault::Fault;
pub use frame::Frame;
pub use id::RequestId;
pub use json::{Elements, Entries, Extra, Json, JsonArray, JsonObject};
pub use kind::Kind;
pub use map::{Iter, IterMut, Map};
pub use message::{
    BareOf, Method, Notification, NotificationMethod, NotificationOf, Request, RequestMethod,
    RequestOf, ResponseOf,
};
pub use method::{
    AnyValue, CapabilityPart, Direction, ExtensionStage, MethodInfo, MethodKind, NoParams,
    TypeInfo, UnknownMessage,
};
pub use number::{Integer, NotFinite, Number};
pub use object::{Members, Object, Record, UnknownMembers};
pub use reader::{Array, Decode, Reader};
pub use scan::MAX_DEPTH;
pub use shown::{EXCERPT, excerpt, harmless, hides, printable, steers};
pub use writer::{ArrayWriter, Encode, ObjectWriter, Writer, is_plain};

/// Reads a whole text.
///
/// # Errors
/// A text that is not one JSON value of this type with nothing but blanks around it.
pub fn from_str<T: Decode>(text: &str) -> Result<T, Error> {
    let mut value = T::blank();
    read_whole(Reader::new(text), &mut value)?;
    Ok(value)
}

/// Reads the whole text of a reader into a blank of any type: one routine for all of them.
fn read_whole(mut reader: Reader<'_>, into: &mut dyn Decode) -> Result<(), Error> {
    let text = reader.text;
    into.fill(&mut reader)
        .and_then(|()| reader.finish())
        .map_err(|fault| Error::new(&fault, text))
}

/// Reads a whole text from bytes, which must be UTF-8.
///
/// # Errors
/// As [`from_str`], and bytes that are not UTF-8.
pub fn from_slice<T: Decode>(bytes: &[u8]) -> Result<T, Error> {
    from_str(checked_utf8(bytes)?)
}

fn checked_utf8(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes
            .split_at_checked(error.valid_up_to())
            .unwrap_or_default();
        Error::not_utf8(
            str::from_utf8(valid).unwrap_or_default(),
            rest.first().copied(),
        )
    })
}

/// Writes a value as JSON text without blanks, but for those inside a [`Json`].
pub fn to_string<T: Encode + ?Sized>(value: &T) -> String {
    let mut writer = Writer::new();
    value.encode(&mut writer);
    writer.into_text()
}

/// Does the same as [`to_string`], appended to `text`, so that a buffer can be used again.
pub fn write_to<T: Encode + ?Sized>(value: &T, text: &mut String) {
    let mut writer = Writer::append_to(std::mem::take(text));
    value.encode(&mut writer);
    *text = writer.into_text();
}

/// Returns a text of JSON as one line: the line breaks between its tokens become spaces. Inside strings they are escaped anyway.
pub fn one_line<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    let json = text.into();
    // To the end in any case: so it is many bytes at a time.
    let breaks = json.bytes().fold(0, |found, byte| {
        found | u8::from(byte == b'\n') | u8::from(byte == b'\r')
    });
    match breaks {
        0 => json,
        _ => json.replace(['\n', '\r'], " ").into(),
    }
}

/// For the macros of this crate: [`serde_bridge!`], so that the crates that use it need no serde of their own, and [`record!`].
#[doc(hidden)]
pub mod __private {
    pub use crate::bridge::{deserialize, serialize};
    pub use crate::record::debug;
    pub use serde;
}
