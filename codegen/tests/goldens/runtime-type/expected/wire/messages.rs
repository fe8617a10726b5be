//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::Cancel;

impl Decode for Cancel {
    fn blank() -> Self {
        Self {
            id: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Cancel", &["id"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Cancel {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.id.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
