//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{ABCD, Größe, Uses};

impl Decode for ABCD {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for ABCD {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Größe {
    fn blank() -> Self {
        Self {
            a_b: None,
            größe: Decode::blank(),
            n1st: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Größe", &["größe", "1st", "a-b"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Größe {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.größe.fill(reader),
            1 => self.n1st.fill(reader),
            _ => self.a_b.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Größe {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("1st", &self.n1st);
        object.optional("a-b", &self.a_b);
        object.member("größe", &self.größe);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Uses {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Uses", &["record", "text"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Uses {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.record.fill(reader),
            _ => self.text.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Uses {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("record", &self.record);
        object.optional("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(ABCD, Größe, Uses);
