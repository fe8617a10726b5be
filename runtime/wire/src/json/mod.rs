//! Opaque JSON: text that is known to be one JSON value, verbatim.

mod container;
mod equal;

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde_json::Value;

use crate::error::Error;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::map::Map;
use crate::number::Number;
use crate::reader::{Decode, Reader};
use crate::shown::cut;
use crate::writer::{Encode, Writer};

pub use container::{Elements, Entries, JsonArray, JsonObject};

/// One JSON value, as the text that it came in.
///
/// The text is known to be JSON and has no blanks around it.
/// Inside, it is kept byte for byte: blanks, the order of members, the spelling of numbers and strings.
/// Two values are equal if they mean the same: members in any order, numbers and strings in any spelling.
#[derive(Clone)]
pub struct Json(Box<str>);

/// The members of an object that its type does not know, in the order of the text.
pub type Extra = Map<Json>;

impl Json {
    /// Returns `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Checks that `text` is one JSON value, and keeps it without the blanks around it.
    ///
    /// # Errors
    /// A text that is not JSON, or nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    pub fn from_text(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }

    /// Returns the JSON that serde_json makes of `value`.
    ///
    /// # Errors
    /// A value that serde_json cannot write, or nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Self::checked(serde_json::to_string(value)?)
    }

    fn checked(text: String) -> Result<Self, serde_json::Error> {
        match Reader::new(&text).skip() {
            Ok(()) => Ok(Self(text.into())),
            Err(fault) => Err(serde_json::Error::custom(Error::new(&fault, &text))),
        }
    }

    /// Returns the JSON that `value` writes.
    pub fn of<T: Encode + ?Sized>(value: &T) -> Self {
        Self(crate::to_string(value).into())
    }

    /// Returns the text.
    #[inline]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the text, owned.
    pub fn into_text(self) -> String {
        self.0.into()
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> Kind {
        Kind::of_text(&self.0)
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Returns the string, if this is one without half surrogate pairs.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        Reader::new(&self.0).text_of_string().ok()
    }

    /// Returns the boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match &*self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the number, if this is one.
    pub fn as_number(&self) -> Option<Number> {
        self.read().ok()
    }

    /// Reads the value as a type of serde.
    ///
    /// # Errors
    /// What serde_json says.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Reads the value as a type of this crate or of a generated one.
    ///
    /// # Errors
    /// A value that is not of this type.
    pub fn read<T: Decode>(&self) -> Result<T, Error> {
        crate::from_str(&self.0)
    }

    /// Returns a member, if this is an object that has it; the last one of this name, as most readers have it.
    ///
    /// Walks the text: to look up many members, read the object into a [`Map`](crate::Map).
    pub fn get(&self, name: &str) -> Option<Self> {
        self.member(name).map(Self::verbatim)
    }

    /// Reads a member as a type of this crate or of a generated one, if this is an object that has it as that type.
    pub fn read_member<T: Decode>(&self, name: &str) -> Option<T> {
        crate::from_str(self.member(name)?).ok()
    }

    fn member(&self, name: &str) -> Option<&str> {
        let members = Entries::of(&self.0).filter(|(key, _)| key == name);
        members.last().map(|(_, value)| value)
    }

    /// Returns a text that is known to be one JSON value without blanks around it.
    pub(crate) fn verbatim(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }
}

impl Decode for Json {
    #[inline]
    fn blank() -> Self {
        Self(Box::default())
    }

    #[inline]
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = Self::verbatim(reader.text_of_value()?);
        Ok(())
    }
}

impl Encode for Json {
    #[inline]
    fn encode(&self, writer: &mut Writer) {
        writer.raw(&self.0);
    }
}

/// `null`
impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

/// Equal by value; the spelling may differ.
///
/// A member that an object names twice counts twice.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        equal::equal(&self.0, &other.0)
    }
}

impl Eq for Json {}

/// By value, as it is compared.
impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        equal::hash(&self.0, state);
    }
}

/// The text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The beginning of the text.
impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", cut(&self.0))
    }
}

impl FromStr for Json {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::of(&value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::of(&value)
    }
}

impl From<Number> for Json {
    fn from(value: Number) -> Self {
        Self::of(&value)
    }
}

/// The text of a value of serde_json.
///
/// One that is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH) is taken, but no reader will take it back.
impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

/// As for an owned [`Value`].
impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

/// Fails where [`Value`] cannot hold the value: `1E400`, half a surrogate pair, 128 levels of nesting.
impl TryFrom<Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: Json) -> Result<Self, serde_json::Error> {
        json.parse()
    }
}

/// As for an owned [`Json`].
impl TryFrom<&Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: &Json) -> Result<Self, serde_json::Error> {
        json.parse()
    }
}
