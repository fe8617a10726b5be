//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Members, Reader, Record, Writer};

use crate::{Hints, Other, Tool, UrlValue};

impl Decode for Hints {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Hints", &["a"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Hints {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.a.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Hints {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Other {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Other", &["_meta"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Other {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.meta.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Other {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tool {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tool", &["_meta", "hints", "x.org/id"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.meta.fill(reader),
            1 => self.hints.fill(reader),
            _ => self.vendor_id.fill(reader),
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
        object.optional("hints", &self.hints);
        object.optional("x.org/id", &self.vendor_id);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for UrlValue {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for UrlValue {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::serde_bridge!(Hints, Other, Tool, UrlValue);
