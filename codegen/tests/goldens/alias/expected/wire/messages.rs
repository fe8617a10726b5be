//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::Tool;

impl Decode for Tool {
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.name.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
