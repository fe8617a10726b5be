//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Form, FormKind};

impl Decode for Form {
    fn blank() -> Self {
        Self {
            kind: None,
            title: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Form", &["title", "kind"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Form {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.title.fill(reader),
            _ => self.kind.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Form {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("kind", &self.kind);
        object.member("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for FormKind {
    fn blank() -> Self {
        Self::Form
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.string_enum(&["form"])?;
        Ok(())
    }
}

impl Encode for FormKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Form, FormKind);
