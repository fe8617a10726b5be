//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Tool, ToolItem};

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name", "title"]);
        let mut name = None;
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => name = Some(reader.value()?),
                _ => title = reader.optional()?,
            }
        }
        Ok(Self {
            name: object.require(0, name)?,
            title,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for ToolItem {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ToolItem", &["name", "title"]);
        let mut name = None;
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => name = Some(reader.value()?),
                _ => title = reader.optional()?,
            }
        }
        Ok(Self {
            name: object.require(0, name)?,
            title,
            extra: object.into_extra(),
        })
    }
}

impl Encode for ToolItem {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Tool, ToolItem);
