//! JSON text to a value, strictly: a member given twice is an error, and every error has its line.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::{Error, FileLocation};

/// The mark that some editors put before a text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The fault of a text that begins with the mark.
pub(crate) const MARKED: &str =
    "the file begins with a byte order mark: save it as UTF-8 without one";

/// Maximum number of values within each other that `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// The message of `serde_json` for a text with more.
const TOO_DEEP: &str = "recursion limit exceeded";

/// Parses the text of `file`. Returns an error for a text that is not JSON, with its line and column, and for nesting deeper
/// than 127 levels.
pub fn parse(file: &str, text: &str) -> Result<Value, Error> {
    let not_json = |line, column, message: &str| {
        let place = FileLocation::Column(line, column);
        Error::text(file, place, format!("not JSON: {message}"))
    };
    if text.trim().is_empty() {
        return Err(not_json(1, 1, "the file is empty"));
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err(not_json(1, 1, MARKED));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    Strict
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let printed = error.to_string();
            let message = printed.strip_suffix(&place).unwrap_or(&printed);
            if message == TOO_DEEP {
                let problem = format!("expected at most {MAX_DEPTH} levels of nesting, found more: give the inner parts definitions of their own");
                let place = FileLocation::Column(error.line(), error.column());
                return Error::text(file, place, problem);
            }
            not_json(error.line(), error.column(), message)
        })
}

/// Visits values that are taken as they are.
macro_rules! scalars {
    ($($visit:ident $type:ty),*) => {$(
        fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

/// Reads any value, and no member twice.
#[derive(Clone, Copy)]
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    scalars!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.contains_key(&key) {
                let problem = format_args!("member `{key}` is given twice");
                return Err(de::Error::custom(problem));
            }
            map.insert(key, members.next_value_seed(self)?);
        }
        Ok(map.into())
    }
}

/// Returns the text of a value for a message: compact, keys in their order, cut after 200 characters.
pub(crate) fn shown(value: &Value) -> String {
    cut(&value.to_string(), 200)
}

/// Returns the beginning of a text, of so many characters.
pub fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
