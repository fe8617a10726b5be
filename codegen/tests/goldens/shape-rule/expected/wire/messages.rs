//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Json, Map, Members, Reader, Record, Writer};

use crate::Tool;

impl Decode for Tool {
    fn blank() -> Self {
        Self {
            any: None,
            input_schema: Decode::blank(),
            meta: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tool", &["inputSchema", "_meta", "any"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.input_schema.fill(reader),
            1 => self.meta.fill(reader),
            _ => self.any.insert(Json::blank()).fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
