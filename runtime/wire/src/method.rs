//! What generated crates say about their methods and types: traits, tables, and open cases.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::mem;

use crate::error::Error;
use crate::fault::Fault;
use crate::json::{Extra, Json};
use crate::map::Map;
use crate::mend::{self, Mended, Mistakes};
use crate::reader::{Decode, Reader};
use crate::writer::{Encode, Writer};

/// Who sends a message to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ClientToServer,
    /// From the server to the client.
    ServerToClient,
}

crate::strings! {
    Direction {
        ClientToServer "client-to-server";
        ServerToClient "server-to-client";
    }
}

impl Direction {
    /// Returns the other direction.
    #[must_use]
    pub const fn back(self) -> Self {
        match self {
            Self::ClientToServer => Self::ServerToClient,
            Self::ServerToClient => Self::ClientToServer,
        }
    }
}

impl serde::Serialize for Direction {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MethodKind {
    /// A message that is answered.
    Request,
    /// A message that is not answered.
    Notification,
    /// A request inside `inputRequests` of a result, as of 2026-07-28, answered in `inputResponses`.
    Input,
}

crate::strings! {
    MethodKind {
        Request "request";
        Notification "notification";
        Input "input";
    }
}

impl serde::Serialize for MethodKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The maturity of an extension: which changes of it a peer has to expect. See
/// [the lifecycle of extensions](https://modelcontextprotocol.io/seps/3392-extension-lifecycle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExtensionStage {
    /// A prototype: anything may change, and it may go.
    Experimental,
    /// In use: a breaking change is rare, documented, and keeps the identifier.
    Beta,
    /// Fixed within a revision of the protocol: it changes only with a new one.
    Stable,
}

crate::strings! {
    ExtensionStage {
        Experimental "experimental";
        Beta "beta";
        Stable "stable";
    }
}

/// A row of a revision's table of methods; types are named as in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The method, such as `tools/call`.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// How it is called.
    pub kind: MethodKind,
    /// The definition of its params, if it has any.
    pub params: Option<&'static str>,
    /// Whether `params` must be there.
    pub params_required: bool,
    /// The definition of its result, if it is answered.
    pub result: Option<&'static str>,
    /// The definition of the whole message.
    pub message: &'static str,
    /// Whether it may be answered by `input_required`: the server asks first, and the client calls again.
    pub input_required: bool,
    /// The member of its params that says what it is about, which the header `Mcp-Name` repeats.
    pub named_by: Option<&'static str>,
    /// The capability that its receiver has to have declared.
    pub capability: Option<&'static str>,
    /// The parts of that capability which some of its params need besides.
    pub capability_parts: &'static [CapabilityPart],
}

impl MethodInfo {
    /// What a row of [`methods!`](crate::methods!) leaves out.
    #[doc(hidden)]
    pub const BLANK: Self = Self {
        name: "",
        direction: Direction::ClientToServer,
        kind: MethodKind::Request,
        params: None,
        params_required: false,
        result: None,
        message: "",
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    };
}

/// Declares `METHODS`, the table of a revision's methods: name, direction, kind, and the fields that say more than nothing.
#[macro_export]
macro_rules! methods {
    ($($name:literal $direction:ident $kind:ident { $($field:ident: $value:expr),* };)*) => {
        /// Every method, by direction, kind and name.
        pub static METHODS: &[$crate::MethodInfo] = &[$(
            $crate::MethodInfo {
                name: $name,
                direction: $crate::Direction::$direction,
                kind: $crate::MethodKind::$kind,
                $($field: $value,)*
                ..$crate::MethodInfo::BLANK
            },
        )*];
    };
}

/// Declares `TYPES`, the table of a revision's types: the type, its name in the schema, and whether the row is that `of` a
/// definition or `inline`.
#[macro_export]
macro_rules! types {
    ($($type:ident $name:literal $row:ident;)*) => {
        /// Every definition of the schema, and every inline schema that has a type of its own.
        pub static TYPES: &[$crate::TypeInfo] = {
            // A static of its own: a table in another crate refers to it. A constant would be copied there, codecs and all.
            static ROWS: [$crate::TypeInfo; [$($name),*].len()] =
                [$($crate::TypeInfo::$row::<$type>($name, ::core::stringify!($type)),)*];
            &ROWS
        };
    };
}

/// A part of a capability, and the params that need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapabilityPart {
    /// The name of the part: `url` of `elicitation`.
    pub name: &'static str,
    /// The member of the params that asks for it.
    pub member: &'static str,
    /// The value of that member which does; `None` for any.
    pub value: Option<&'static str>,
}

/// A value of a type that is only known at run time.
///
/// A conversion takes the value out of its box, and the value reads and writes itself: the code for boxes and texts is compiled
/// once, and not once for each type.
pub struct AnyValue(Box<dyn Codec>);

impl AnyValue {
    /// Creates one from a value.
    pub fn new<T: Decode + Encode + 'static>(value: T) -> Self {
        Self(Box::new(value))
    }

    /// Creates one from the value that reading begins with.
    fn blank<T: Decode + Encode + 'static>() -> Self {
        Self::new(T::blank())
    }

    /// Takes the value out, and leaves a blank one; `None` if it is of another type.
    pub fn take<T: Decode + 'static>(&mut self) -> Option<T> {
        let value: &mut dyn Any = &mut *self.0;
        Some(mem::replace(value.downcast_mut()?, T::blank()))
    }

    fn is(&self, id: TypeId) -> bool {
        let value: &dyn Any = &*self.0;
        value.type_id() == id
    }
}

crate::debug_struct!([] AnyValue, "AnyValue", self);

/// A type that reads and writes itself, and has a `TypeId`.
trait Codec: Decode + Encode + Any {}

impl<T: Decode + Encode + Any> Codec for T {}

/// A row of a revision's table of types, and its codec: texts of a type that is only known at run time.
#[derive(Debug, Clone, Copy)]
pub struct TypeInfo {
    /// The name of the definition in the schema.
    pub name: &'static str,
    /// The name of the type in Rust.
    pub rust_name: &'static str,
    /// Whether the schema defines it by name; else it was hoisted from an inline schema.
    pub definition: bool,
    blank: fn() -> AnyValue,
    id: fn() -> TypeId,
}

impl TypeInfo {
    /// Returns the row of the type `T` of a definition.
    pub const fn of<T: Decode + Encode + 'static>(
        name: &'static str,
        rust_name: &'static str,
    ) -> Self {
        Self {
            name,
            rust_name,
            definition: true,
            blank: AnyValue::blank::<T>,
            id: TypeId::of::<T>,
        }
    }

    /// Returns the row of the type `T` of an inline schema; `name` is that of its place.
    pub const fn inline<T: Decode + Encode + 'static>(
        name: &'static str,
        rust_name: &'static str,
    ) -> Self {
        let row = Self::of::<T>(name, rust_name);
        Self {
            definition: false,
            ..row
        }
    }

    /// Returns the row of a type, by the name of its definition or of its Rust type.
    pub fn find<'t>(types: &'t [Self], name: &str) -> Option<&'t Self> {
        let by_definition = types.iter().find(|row| row.name == name);
        by_definition.or_else(|| types.iter().find(|row| row.rust_name == name))
    }

    /// Returns whether another row is one of the same Rust type, by another name.
    #[must_use]
    pub fn is_same_type(&self, other: &Self) -> bool {
        (self.id)() == (other.id)()
    }

    /// Reads a whole text as the type.
    ///
    /// # Errors
    /// As [`from_str`](crate::from_str).
    pub fn read(&self, text: &str) -> Result<AnyValue, Error> {
        self.read_by(Reader::new(text))
    }

    /// Does the same as [`read`](Self::read), with values that the type keeps as text held to what the schema says of them;
    /// returns also whether there are any.
    ///
    /// # Errors
    /// As [`read`](Self::read), and a value in which something stands that its schema refuses.
    pub fn read_framed(&self, text: &str) -> Result<(AnyValue, bool), Error> {
        let met = Cell::new(false);
        let mut reader = Reader::new(text);
        reader.frames = Some(&met);
        let value = self.read_by(reader)?;
        Ok((value, met.get()))
    }

    fn read_by(&self, reader: Reader<'_>) -> Result<AnyValue, Error> {
        let mut value = (self.blank)();
        crate::read_whole(reader, &mut *value.0)?;
        Ok(value)
    }

    /// Mends a text that [`read_framed`](Self::read_framed) does not take.
    ///
    /// # Errors
    /// As [`mend`](crate::mend::mend).
    pub fn mend(&self, text: &str, mistakes: Mistakes) -> Result<Mended, Error> {
        mend::mend(text, mistakes, &mut |reader| (self.blank)().0.fill(reader))
    }

    /// Writes a value; `None` if it is of another type.
    pub fn write(&self, value: &AnyValue) -> Option<Json> {
        self.written(value, Writer::new()).map(Json::verbatim)
    }

    /// Does the same as [`write`](Self::write), with room for a text of about so many bytes.
    pub fn write_within(&self, value: &AnyValue, room: usize) -> Option<Json> {
        let writer = Writer::append_to(String::with_capacity(room));
        self.written(value, writer).map(Json::verbatim)
    }

    /// Reads a text as the type and writes it again.
    ///
    /// # Errors
    /// As [`read_framed`](Self::read_framed).
    pub fn round_trip(&self, text: &str) -> Result<String, Error> {
        let (value, _) = self.read_framed(text)?;
        // What was read here is of the type.
        Ok(self.written(&value, Writer::new()).unwrap_or_default())
    }

    fn written(&self, value: &AnyValue, mut writer: Writer) -> Option<String> {
        value.is((self.id)()).then(|| {
            value.0.encode(&mut writer);
            writer.into_text()
        })
    }
}

/// A message whose method is not of this revision.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownMessage {
    /// The method.
    pub method: String,
    /// Its params, unread; `null` is read as absent.
    pub params: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl UnknownMessage {
    /// Creates a message without params.
    pub fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: None,
            extra: Map::new(),
        }
    }
}

crate::record! {
    UnknownMessage open {
        0 "method": required method;
        1 "params": optional params;
    }
}

/// The params of a method that has none: an object without known members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoParams {
    /// All members.
    pub extra: Extra,
}

impl Decode for NoParams {
    #[inline]
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.extra.fill(reader)
    }
}

impl Encode for NoParams {
    fn encode(&self, writer: &mut Writer) {
        self.extra.encode(writer);
    }
}
