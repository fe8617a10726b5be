//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Packet;

impl Decode for Packet {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Packet",
            &["jsonrpc", "version", "name"],
        );
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("2.0")?,
                1 => reader.constant_integer(3)?,
                _ => name = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        object.require_seen(1)?;
        Ok(Self {
            name: object.require(2, name)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Packet {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("jsonrpc", "2.0");
        object.constant_integer("version", 3);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Packet);
