//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Tool, ToolItem};

impl Decode for Tool {
    fn blank() -> Self {
        Self {
            name: String::new(),
            title: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tool", &["name", "title"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.name.fill(reader),
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
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for ToolItem {
    fn blank() -> Self {
        Self {
            name: String::new(),
            title: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("ToolItem", &["name", "title"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ToolItem {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.name.fill(reader),
            _ => self.title.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for ToolItem {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Tool, ToolItem);
