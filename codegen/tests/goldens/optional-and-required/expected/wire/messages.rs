//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Hints, Tool};

impl Decode for Hints {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Hints", &["readOnly"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Hints {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.read_only.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Hints {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("readOnly", &self.read_only);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tool {
    fn blank() -> Self {
        Self {
            name: String::new(),
            sizes: None,
            title: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name", "sizes", "title"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.name.fill(reader),
            1 => self.sizes.fill(reader),
            _ => self.title.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.optional("sizes", &self.sizes);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Hints, Tool);
