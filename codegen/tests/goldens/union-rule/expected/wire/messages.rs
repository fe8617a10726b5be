//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Members, Paths, Reader, Record, Writer};

use crate::{Answer, Long, Outcome, Short};

impl Decode for Answer {
    fn blank() -> Self {
        Self::Short(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = Self::Short(Decode::blank());
        match self {
            Self::Short(value) => value.fill(reader),
            Self::Long(value) => value.fill(reader),
        }
    }
}

impl Encode for Answer {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

impl Decode for Long {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Long", &["a", "b"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Long {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.a.fill(reader),
            _ => self.b.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Long {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.optional("b", &self.b);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Outcome {
    fn blank() -> Self {
        Self::Short(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Outcome", &[&["b", "next"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            *self = Self::Long(Decode::blank())
        } else {
            *self = Self::Short(Decode::blank())
        }
        match self {
            Self::Short(value) => value.fill(reader),
            Self::Long(value) => value.fill(reader),
        }
    }
}

impl Encode for Outcome {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

impl Decode for Short {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Short", &["a"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Short {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.a.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Short {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Answer, Long, Outcome, Short);
