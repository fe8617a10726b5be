//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Closed, Open, Typed};

impl Decode for Closed {
    fn blank() -> Self {
        Self { name: String::new() }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::closed("Closed", &["name"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Closed {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.name.fill(reader)
    }
}

impl Encode for Closed {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.end();
    }
}

impl Decode for Open {
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Open", &["name"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Open {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.name.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Open {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Typed {
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Typed", &["name"]).requiring(&[0]);
        let mut extra = Map::new();
        reader.record_with(&MEMBERS, self, &mut extra)?;
        self.extra = extra;
        Ok(())
    }
}

impl Record for Typed {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.name.fill(reader)
    }
}

impl Encode for Typed {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Closed, Open, Typed);
