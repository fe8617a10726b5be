//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Report, Tool};

impl Decode for Report {
    fn blank() -> Self {
        Self {
            scores: Decode::blank(),
            tools: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Report", &["scores", "tools"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Report {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.scores.fill(reader),
            _ => self.tools.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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

mcp_wire::serde_bridge!(Report, Tool);
