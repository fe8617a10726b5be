//! The two traits, and their implementations for what Rust brings along.

use crate::fault::Fault;
use crate::map::Map;
use crate::object::Members;
use crate::reader::Reader;
use crate::writer::Writer;

/// A type that is read from JSON text.
pub trait Decode: Sized {
    /// Reads the next value of `reader`.
    ///
    /// # Errors
    /// A text that is not JSON, or not of this type.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault>;
}

/// A type that is written as JSON text.
pub trait Encode {
    /// Writes one value.
    fn encode(&self, writer: &mut Writer);
}

impl Decode for String {
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.string()
    }
}

impl Encode for String {
    #[inline]
    fn encode(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Encode for str {
    fn encode(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Decode for bool {
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.boolean()
    }
}

impl Encode for bool {
    fn encode(&self, writer: &mut Writer) {
        writer.boolean(*self);
    }
}

impl Encode for i64 {
    fn encode(&self, writer: &mut Writer) {
        writer.integer(*self);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }
}

impl<T: Decode> Decode for Box<T> {
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        T::decode(reader).map(Self::new)
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }
}

/// `null` is `None`: for a member that is required but may be `null`.
impl<T: Decode> Decode for Option<T> {
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.optional()
    }
}

/// `None` is `null`: for a member that is required but may be `null`.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Some(value) => value.encode(writer),
            None => writer.null(),
        }
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut array = reader.array()?;
        let mut items = Self::new();
        while array.next(reader)? {
            items.push(T::decode(reader)?);
        }
        Ok(items)
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, writer: &mut Writer) {
        let mut array = writer.array();
        for item in self {
            array.element(item);
        }
        array.end();
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer) {
        self.as_slice().encode(writer);
    }
}

impl<T: Decode> Decode for Map<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static NONE: Members = Members::open("", &[]);
        let mut object = reader.object(&NONE)?;
        let mut map = Self::new();
        // There are no known members: the first call reads them all.
        object.next_with(reader, &mut map)?;
        Ok(map)
    }
}

impl<T: Encode> Encode for Map<T> {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.extra(self);
        object.end();
    }
}
