//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Report, Tool};

impl Decode for Report {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Report", &["scores", "tools"]);
        let mut scores = None;
        let mut tools = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => scores = Some(reader.value()?),
                _ => tools = reader.optional()?,
            }
        }
        Ok(Self {
            scores: object.require(0, scores)?,
            tools,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Report {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("scores", &self.scores);
        object.optional("tools", &self.tools);
        object.extra(&self.extra);
        object.end();
    }
}

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

mcp_wire::serde_bridge!(Report, Tool);
