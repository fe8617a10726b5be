//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Tool;

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name"]);
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

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Tool);
