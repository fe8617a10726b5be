//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{File, Measured, Named};

impl Decode for File {
    fn blank() -> Self {
        Self {
            meta: None,
            name: String::new(),
            size: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "File",
                &["kind", "name", "size", "meta"],
            )
            .requiring(&[0, 1, 2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for File {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("file"),
            1 => self.name.fill(reader),
            2 => self.size.fill(reader),
            _ => self.meta.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for File {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("kind", "file");
        object.optional("meta", &self.meta);
        object.member("name", &self.name);
        object.member("size", &self.size);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Measured {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Measured", &["meta", "size"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Measured {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.meta.fill(reader),
            _ => self.size.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Measured {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("meta", &self.meta);
        object.optional("size", &self.size);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Named {
    fn blank() -> Self {
        Self {
            meta: None,
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Named", &["name", "meta"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Named {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.name.fill(reader),
            _ => self.meta.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Named {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("meta", &self.meta);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(File, Measured, Named);
