//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Json, Map, Members, Reader, Record, Writer};

use crate::Call;

impl Decode for Call {
    fn blank() -> Self {
        Self {
            anything: Decode::blank(),
            arguments: Decode::blank(),
            list: Decode::blank(),
            maybe: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "Call",
                &["anything", "arguments", "list", "maybe"],
            )
            .requiring(&[0, 1, 2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Call {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.anything.fill(reader),
            1 => self.arguments.fill(reader),
            2 => self.list.fill(reader),
            _ => self.maybe.insert(Json::blank()).fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
