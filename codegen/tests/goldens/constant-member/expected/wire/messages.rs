//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::Packet;

impl Decode for Packet {
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "Packet",
                &["code", "jsonrpc", "version", "name"],
            )
            .requiring(&[0, 1, 2, 3]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Packet {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant_number("-32603.0"),
            1 => reader.constant("2.0"),
            2 => reader.constant_integer(3),
            _ => self.name.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Packet {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant_number("code", "-32603.0");
        object.constant("jsonrpc", "2.0");
        object.constant_integer("version", 3);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Packet);
