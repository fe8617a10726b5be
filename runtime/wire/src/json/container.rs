//! Opaque JSON that is known to be an object or an array.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde_json::Value;

use super::Json;
use crate::error::Error;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::reader::{Array, Decode, Reader};
use crate::text::unescape_lossy;
use crate::writer::{Encode, Writer};

/// A [`Json`] that is an object.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonObject(Json);

/// A [`Json`] that is an array.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonArray(Json);

impl JsonObject {
    /// Returns the value of a member; of the last one of this name, as most readers have it.
    ///
    /// Walks the text: to look up many members, read the object into a [`Map`](crate::Map).
    pub fn get(&self, name: &str) -> Option<Json> {
        self.0.get(name)
    }

    /// Returns the members in the order of the text: name, and text of the value.
    ///
    /// Half a surrogate pair in a name shows as U+FFFD.
    pub fn iter(&self) -> Entries<'_> {
        Entries::of(self.text())
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl JsonArray {
    /// Returns the texts of the elements.
    pub fn iter(&self) -> Elements<'_> {
        Elements::of(self.text())
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// The members of a [`JsonObject`].
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    reader: Reader<'a>,
    first: bool,
    is_open: bool,
}

impl<'a> Entries<'a> {
    /// Returns the members of a text that is known to be JSON: those of an object, and no members of another value.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut reader = Reader::new(text);
        let is_open = reader.enter_object("").is_ok();
        Self {
            reader,
            first: true,
            is_open,
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        // The text is known to be an object: no step fails.
        if !self.is_open || !self.reader.next_member(&mut self.first).ok()? {
            self.is_open = false;
            return None;
        }
        let raw = self.reader.raw_string().ok()?;
        self.reader.colon().ok()?;
        Some((unescape_lossy(raw), self.reader.text_of_value().ok()?))
    }
}

/// The texts of the elements of a [`JsonArray`], or of the messages of a batch.
#[derive(Debug)]
pub struct Elements<'a> {
    reader: Reader<'a>,
    array: Option<Array>,
}

impl<'a> Elements<'a> {
    /// Returns the elements of a text that is known to be JSON: those of an array, and no elements of another value.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut reader = Reader::new(text);
        let array = reader.array().ok();
        Self { reader, array }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.array.as_mut()?.next(&mut self.reader).ok()? {
            return self.reader.text_of_value().ok();
        }
        self.array = None;
        None
    }
}

/// What the two types have in common.
macro_rules! container {
    ($type:ident, $kind:ident, $empty:literal, $a:literal) => {
        impl $type {
            #[doc = concat!("`", $empty, "`")]
            pub fn new() -> Self {
                Self(Json::verbatim($empty))
            }

            #[doc = concat!("Checks that `text` is ", $a, ", and keeps it without the blanks around it.")]
            ///
            /// # Errors
            #[doc = concat!("A text that is not JSON, or not ", $a, ".")]
            pub fn from_text(text: &str) -> Result<Self, Error> {
                crate::from_str(text)
            }

            /// Returns the JSON that serde_json makes of `value`.
            ///
            /// # Errors
            #[doc = concat!("A value that serde_json cannot write, or not as ", $a, ".")]
            pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
                Self::try_from(Json::from_value(value)?).map_err(serde_json::Error::custom)
            }

            /// Returns the text.
            pub fn text(&self) -> &str {
                self.0.text()
            }

            /// Returns the text, owned.
            pub fn into_text(self) -> String {
                self.0.into_text()
            }

            /// Returns the value as JSON of any kind.
            pub fn as_json(&self) -> &Json {
                &self.0
            }

            /// Reads the value as a type of serde.
            ///
            /// # Errors
            /// What serde_json says.
            pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
                self.0.parse()
            }

            /// Reads the value as a type of this crate or of a generated one.
            ///
            /// # Errors
            /// A value that is not of this type.
            pub fn read<T: Decode>(&self) -> Result<T, Error> {
                self.0.read()
            }
        }

        impl Decode for $type {
            #[inline]
            fn blank() -> Self {
                Self(Json::blank())
            }

            fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
                if reader.peek() != $empty.as_bytes()[0] {
                    return Err(reader.refuse($a));
                }
                self.0.fill(reader)
            }
        }

        impl Encode for $type {
            fn encode(&self, writer: &mut Writer) {
                self.0.encode(writer);
            }
        }

        impl Default for $type {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$type> for Json {
            fn from(value: $type) -> Self {
                value.0
            }
        }

        #[doc = concat!("Refuses what is not ", $a, ".")]
        impl TryFrom<Json> for $type {
            type Error = Error;

            fn try_from(json: Json) -> Result<Self, Error> {
                if json.kind() == Kind::$kind {
                    return Ok(Self(json));
                }
                let text = json.text();
                Err(Error::new(&Reader::new(text).refuse($a), text))
            }
        }
    };
}

container!(JsonObject, Object, "{}", "an object");
container!(JsonArray, Array, "[]", "an array");

impl From<serde_json::Map<String, Value>> for JsonObject {
    fn from(map: serde_json::Map<String, Value>) -> Self {
        Self(Value::Object(map).into())
    }
}

/// Fails where [`Value`] cannot hold a member.
impl TryFrom<JsonObject> for serde_json::Map<String, Value> {
    type Error = serde_json::Error;

    fn try_from(object: JsonObject) -> Result<Self, serde_json::Error> {
        object.parse()
    }
}

impl From<Vec<Value>> for JsonArray {
    fn from(values: Vec<Value>) -> Self {
        Self(Value::Array(values).into())
    }
}

impl<'a> IntoIterator for &'a JsonObject {
    type Item = (Cow<'a, str>, &'a str);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a JsonArray {
    type Item = &'a str;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        self.iter()
    }
}
