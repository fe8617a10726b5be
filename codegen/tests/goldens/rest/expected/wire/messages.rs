//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Map, Members, Reader, Writer};

use crate::{Closed, Open, Typed};

impl Decode for Closed {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::closed("Closed", &["name"]);
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            name = Some(reader.value()?);
        }
        Ok(Self {
            name: object.require(0, name)?,
        })
    }
}

impl Encode for Closed {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.end();
    }
}

impl Decode for Open {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Open", &["name"]);
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            name = Some(reader.value()?);
        }
        Ok(Self {
            name: object.require(0, name)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Open {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Typed {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Typed", &["name"]);
        let mut name = None;
        let mut extra = Map::new();
        let mut object = reader.object(&MEMBERS)?;
        while object.next_with(reader, &mut extra)?.is_some() {
            name = Some(reader.value()?);
        }
        Ok(Self {
            name: object.require(0, name)?,
            extra,
        })
    }
}

impl Encode for Typed {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Closed, Open, Typed);
