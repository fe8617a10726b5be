//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Kind, Members, Reader, Writer};

use crate::{Bag, Token, Value};

impl Decode for Bag {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Bag", &["size"]);
        let mut size = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            size = Some(reader.value()?);
        }
        Ok(Self {
            size: object.require(0, size)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Bag {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("size", &self.size);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Token {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        match reader.kind()? {
            Kind::String => reader.value().map(Self::String),
            Kind::Integer | Kind::Number => reader.value().map(Self::Integer),
            _ => Err(reader.refuse("a string or an integer")),
        }
    }
}

impl Encode for Token {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Integer(value) => value.encode(writer),
            Self::String(value) => value.encode(writer),
        }
    }
}

impl Decode for Value {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        match reader.kind()? {
            Kind::Object => reader.value().map(Self::Bag),
            Kind::Array => reader.value().map(Self::List),
            Kind::String => reader.value().map(Self::String),
            Kind::Integer | Kind::Number => reader.value().map(Self::Number),
            Kind::Boolean => reader.value().map(Self::Boolean),
            _ => {
                Err(
                    reader.refuse("an object, an array, a string, a number or a boolean"),
                )
            }
        }
    }
}

impl Encode for Value {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::String(value) => value.encode(writer),
            Self::Number(value) => value.encode(writer),
            Self::Boolean(value) => value.encode(writer),
            Self::List(value) => value.encode(writer),
            Self::Bag(value) => value.encode(writer),
        }
    }
}

mcp_wire::serde_bridge!(Bag, Token, Value);
