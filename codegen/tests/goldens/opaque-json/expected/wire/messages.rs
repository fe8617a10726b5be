//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Call;

impl Decode for Call {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Call",
            &["anything", "arguments", "list", "maybe"],
        );
        let mut anything = None;
        let mut arguments = None;
        let mut list = None;
        let mut maybe = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => anything = Some(reader.value()?),
                1 => arguments = Some(reader.value()?),
                2 => list = Some(reader.value()?),
                _ => maybe = Some(reader.value()?),
            }
        }
        Ok(Self {
            anything: object.require(0, anything)?,
            arguments: object.require(1, arguments)?,
            list: object.require(2, list)?,
            maybe,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Call {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("anything", &self.anything);
        object.member("arguments", &self.arguments);
        object.member("list", &self.list);
        object.optional("maybe", &self.maybe);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Call);
