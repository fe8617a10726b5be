//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Cancel;

impl Decode for Cancel {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Cancel", &["id"]);
        let mut id = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            id = Some(reader.value()?);
        }
        Ok(Self {
            id: object.require(0, id)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Cancel {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("id", &self.id);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Cancel);
