//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{Answer, Long, Outcome, Short};

impl Decode for Answer {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self::Short)
    }
}

impl Encode for Answer {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

impl Decode for Long {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Long", &["a", "b"]);
        let mut a = None;
        let mut b = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => a = reader.optional()?,
                _ => b = reader.optional()?,
            }
        }
        Ok(Self {
            a,
            b,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Long {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.optional("b", &self.b);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Outcome {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("Outcome", &[&["b"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            reader.value().map(Self::Long)
        } else {
            reader.value().map(Self::Short)
        }
    }
}

impl Encode for Outcome {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

impl Decode for Short {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Short", &["a"]);
        let mut a = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            a = reader.optional()?;
        }
        Ok(Self {
            a,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Short {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Answer, Long, Outcome, Short);
