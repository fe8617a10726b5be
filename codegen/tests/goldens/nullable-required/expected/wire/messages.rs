//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Owner, Task};

impl Decode for Owner {
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Owner", &["name"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Owner {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.name.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Owner {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Task {
    fn blank() -> Self {
        Self {
            note: None,
            owner: None,
            ttl: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Task", &["owner", "ttl", "note"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Task {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.owner.fill(reader),
            1 => self.ttl.fill(reader),
            _ => self.note.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Task {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("note", &self.note);
        object.member("owner", &self.owner);
        object.member("ttl", &self.ttl);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Owner, Task);
