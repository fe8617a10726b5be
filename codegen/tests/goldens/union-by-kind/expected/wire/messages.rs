//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Kind, Reader, Writer};

use crate::{Bag, Token, Value};

mcp_wire::record! {
    Bag open {
        0 "size": required size;
    }
}

impl Decode for Token {
    fn blank() -> Self {
        Self::Integer(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::String => *self = Self::String(Decode::blank()),
            Kind::Integer | Kind::Number => *self = Self::Integer(Decode::blank()),
            _ => return Err(reader.refuse("a string or an integer")),
        }
        match self {
            Self::Integer(value) => value.fill(reader),
            Self::String(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self::String(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::Object => *self = Self::Bag(Decode::blank()),
            Kind::Array => *self = Self::List(Decode::blank()),
            Kind::String => *self = Self::String(Decode::blank()),
            Kind::Integer | Kind::Number => *self = Self::Number(Decode::blank()),
            Kind::Boolean => *self = Self::Boolean(Decode::blank()),
            _ => {
                return Err(
                    reader.refuse("an object, an array, a string, a number or a boolean"),
                );
            }
        }
        match self {
            Self::String(value) => value.fill(reader),
            Self::Number(value) => value.fill(reader),
            Self::Boolean(value) => value.fill(reader),
            Self::List(value) => value.fill(reader),
            Self::Bag(value) => value.fill(reader),
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
