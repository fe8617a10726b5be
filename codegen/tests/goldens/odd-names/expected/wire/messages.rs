//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{ABCD, Größe, Uses};

impl Decode for ABCD {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for ABCD {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Größe {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Größe", &["1st", "a-b", "größe"]);
        let mut a_b = None;
        let mut größe = None;
        let mut n1st = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => n1st = reader.optional()?,
                1 => a_b = reader.optional()?,
                _ => größe = Some(reader.value()?),
            }
        }
        Ok(Self {
            n1st,
            a_b,
            größe: object.require(2, größe)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Größe {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("1st", &self.n1st);
        object.optional("a-b", &self.a_b);
        object.member("größe", &self.größe);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Uses {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Uses", &["record", "text"]);
        let mut record = None;
        let mut text = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => record = reader.optional()?,
                _ => text = reader.optional()?,
            }
        }
        Ok(Self {
            record,
            text,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Uses {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("record", &self.record);
        object.optional("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(ABCD, Größe, Uses);
