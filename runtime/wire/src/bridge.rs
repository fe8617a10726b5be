//! The bridge from `Decode` and `Encode` to serde, through the raw values of serde_json.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::map::Map;
use crate::reader::Decode;
use crate::writer::Encode;

/// Gives types that implement [`Decode`](crate::Decode) and [`Encode`](crate::Encode) the traits
/// `Serialize` and `Deserialize` of serde.
///
/// For serde_json only: the value travels as a raw value, which other formats do not know.
///
/// ```
/// struct Name(String);
///
/// impl mcp_wire::Decode for Name {
///     fn blank() -> Self {
///         Self(String::new())
///     }
///
///     fn fill(&mut self, reader: &mut mcp_wire::Reader<'_>) -> Result<(), mcp_wire::Fault> {
///         self.0.fill(reader)
///     }
/// }
///
/// impl mcp_wire::Encode for Name {
///     fn encode(&self, writer: &mut mcp_wire::Writer) {
///         self.0.encode(writer);
///     }
/// }
///
/// mcp_wire::serde_bridge!(Name);
///
/// let names: Vec<Name> = serde_json::from_str(r#"["a", "b"]"#)?;
/// assert_eq!(serde_json::to_string(&names)?, r#"["a","b"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! serde_bridge {
    (<$of:ident: $bound:ident> $type:ty) => {
        $crate::serde_bridge!(@one [$of: $bound] $type);
    };
    ($($type:ty),* $(,)?) => {
        $($crate::serde_bridge!(@one [] $type);)*
    };
    (@one [$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> $crate::__private::serde::Serialize for $type {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::__private::serialize($crate::to_string(self), serializer)
            }
        }

        impl<'de, $($generic)*> $crate::__private::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::__private::deserialize(deserializer)
            }
        }
    };
}

serde_bridge!(
    crate::Json,
    crate::JsonObject,
    crate::JsonArray,
    crate::Integer,
    crate::Number,
    crate::RequestId,
    crate::envelope::ErrorObject,
    crate::method::UnknownMessage,
    crate::method::NoParams,
);

impl<T: Encode> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(crate::to_string(self), serializer)
    }
}

impl<'de, T: Decode> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

/// Serializes JSON text as the value that it is.
pub fn serialize<S: Serializer>(json: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(json)
        .map_err(S::Error::custom)?
        .serialize(serializer)
}

/// Deserializes any value as its JSON text, and reads that.
pub fn deserialize<'de, T: Decode, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw = <Box<RawValue>>::deserialize(deserializer)?;
    crate::from_str(raw.get()).map_err(D::Error::custom)
}
