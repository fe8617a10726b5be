//! Arguments that come as texts: the variables of a URI template, and the arguments of a prompt.

use std::cell::Cell;

use mcp_wire::{Iter, Map};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Error;

/// Reads arguments; the text of a number or of a boolean is read as one where the type has one. Returns an error that names the
/// argument whose text is none of its type.
pub(super) fn read<T: DeserializeOwned>(texts: &Map<String>) -> Result<T, Error> {
    T::deserialize(Texts {
        texts,
        fields: None,
    })
}

/// Returns the problem of a struct that has no field for one of these names; a type that names no fields takes any.
pub(super) fn check<T: DeserializeOwned>(names: &[&str]) -> Option<String> {
    let (texts, fields) = (&Map::default(), Cell::new(None));
    // Reading stops at the names of the fields.
    let _ = T::deserialize(Texts {
        texts,
        fields: Some(&fields),
    });
    let known = fields.get()?;
    let strange = names.iter().find(|name| !known.contains(name));
    strange.map(|name| {
        let listed = known.join("`, `");
        format!("no field of its arguments is called `{name}`, which is a variable; the fields are `{listed}`")
    })
}

/// The names of the fields of a struct.
type FieldNames = &'static [&'static str];

/// The arguments, by name.
struct Texts<'a> {
    texts: &'a Map<String>,
    /// Gets the names of the fields, if nothing else is to be read.
    fields: Option<&'a Cell<Option<FieldNames>>>,
}

impl<'de> Deserializer<'de> for Texts<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.fields.is_some() {
            return Err(Error::custom("only the names of fields are read"));
        }
        let rest = self.texts.iter();
        visitor.visit_map(TextEntries { rest, next: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: FieldNames,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(found) = self.fields {
            found.set(Some(fields));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct TextEntries<'a> {
    rest: Iter<'a, String>,
    /// The argument whose name was read last.
    next: Option<(&'a str, &'a str)>,
}

impl<'de> MapAccess<'de> for TextEntries<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next = self.rest.next().map(|(name, text)| (name, text.as_str()));
        let name = self.next.map(|(name, _)| seed.deserialize(TextValue(name)));
        name.transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, text) = self.next.unwrap_or_default();
        let value = seed.deserialize(TextValue(text));
        value.map_err(|error| Error::custom(format!("`{name}`: {error}")))
    }
}

struct TextValue<'a>(&'a str);

/// Reads a text as a value that has a text of its own.
macro_rules! parsed {
    ($($deserialize:ident $visit:ident $of:ty $(, if $holds:path)?;)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse::<$of>() {
                Ok(value) $(if $holds(value))? => visitor.$visit(value),
                _ => Err(Error::invalid_value(Unexpected::Str(self.0), &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for TextValue<'_> {
    type Error = Error;

    parsed! {
        deserialize_bool visit_bool bool;
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
        // JSON has no other numbers.
        deserialize_f32 visit_f32 f32, if f32::is_finite;
        deserialize_f64 visit_f64 f64, if f64::is_finite;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(StrDeserializer::<Error>::new(self.0))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
