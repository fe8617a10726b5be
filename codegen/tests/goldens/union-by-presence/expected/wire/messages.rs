//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{Choice, PlainChoice, TitledChoice};

impl Decode for Choice {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("Choice", &[&["titles"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            reader.value().map(Self::Titled)
        } else {
            reader.value().map(Self::Plain)
        }
    }
}

impl Encode for Choice {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Plain(value) => value.encode(writer),
            Self::Titled(value) => value.encode(writer),
        }
    }
}

impl Decode for PlainChoice {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("PlainChoice", &["values"]);
        let mut values = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            values = Some(reader.value()?);
        }
        Ok(Self {
            values: object.require(0, values)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for PlainChoice {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("values", &self.values);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TitledChoice {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TitledChoice", &["titles", "values"]);
        let mut titles = None;
        let mut values = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => titles = Some(reader.value()?),
                _ => values = Some(reader.value()?),
            }
        }
        Ok(Self {
            titles: object.require(0, titles)?,
            values: object.require(1, values)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for TitledChoice {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("titles", &self.titles);
        object.member("values", &self.values);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Choice, PlainChoice, TitledChoice);
