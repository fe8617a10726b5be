//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Tool;

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Tool",
            &["_meta", "any", "inputSchema"],
        );
        let mut any = None;
        let mut input_schema = None;
        let mut meta = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                1 => any = Some(reader.value()?),
                _ => input_schema = Some(reader.value()?),
            }
        }
        Ok(Self {
            meta,
            any,
            input_schema: object.require(2, input_schema)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.optional("any", &self.any);
        object.member("inputSchema", &self.input_schema);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Tool);
