//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{PlainSchema, Schema, TitledSchema, TitledSchemaItems};

impl Decode for PlainSchema {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("PlainSchema", &["items"]);
        let mut items = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            items = Some(reader.value()?);
        }
        Ok(Self {
            items: object.require(0, items)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for PlainSchema {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("items", &self.items);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Schema {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("Schema", &[&["items", "titles"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            reader.value().map(Self::Titled)
        } else {
            reader.value().map(Self::Plain)
        }
    }
}

impl Encode for Schema {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Plain(value) => value.encode(writer),
            Self::Titled(value) => value.encode(writer),
        }
    }
}

impl Decode for TitledSchema {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TitledSchema", &["items"]);
        let mut items = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            items = Some(reader.value()?);
        }
        Ok(Self {
            items: object.require(0, items)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for TitledSchema {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("items", &self.items);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TitledSchemaItems {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TitledSchemaItems", &["titles"]);
        let mut titles = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            titles = Some(reader.value()?);
        }
        Ok(Self {
            titles: object.require(0, titles)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for TitledSchemaItems {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("titles", &self.titles);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(PlainSchema, Schema, TitledSchema, TitledSchemaItems);
