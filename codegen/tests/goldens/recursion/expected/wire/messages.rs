//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Kind, Members, Reader, Writer};

use crate::{Expression, Negation, Tree};

impl Decode for Expression {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        match reader.kind()? {
            Kind::Object => reader.value().map(Self::Negation),
            Kind::String => reader.value().map(Self::String),
            _ => Err(reader.refuse("an object or a string")),
        }
    }
}

impl Encode for Expression {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::String(value) => value.encode(writer),
            Self::Negation(value) => value.encode(writer),
        }
    }
}

impl Decode for Negation {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Negation", &["of"]);
        let mut of = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            of = Some(reader.value()?);
        }
        Ok(Self {
            of: object.require(0, of)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Negation {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("of", &self.of);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tree {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Tree", &["children", "left", "value"]);
        let mut children = None;
        let mut left = None;
        let mut value = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => children = reader.optional()?,
                1 => left = reader.optional()?,
                _ => value = Some(reader.value()?),
            }
        }
        Ok(Self {
            children,
            left,
            value: object.require(2, value)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tree {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("children", &self.children);
        object.optional("left", &self.left);
        object.member("value", &self.value);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Expression, Negation, Tree);
