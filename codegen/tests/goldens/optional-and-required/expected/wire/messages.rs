//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Hints, Tool};

impl Decode for Hints {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Hints", &["readOnly"]);
        let mut read_only = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            read_only = reader.optional()?;
        }
        Ok(Self {
            read_only,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Hints {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("readOnly", &self.read_only);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name", "sizes", "title"]);
        let mut name = None;
        let mut sizes = None;
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => name = Some(reader.value()?),
                1 => sizes = reader.optional()?,
                _ => title = reader.optional()?,
            }
        }
        Ok(Self {
            name: object.require(0, name)?,
            sizes,
            title,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.optional("sizes", &self.sizes);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Hints, Tool);
