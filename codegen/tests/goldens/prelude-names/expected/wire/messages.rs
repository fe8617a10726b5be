//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Holder, HolderKind, OptionItem};

impl Decode for Holder {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Holder", &["kind", "option"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Holder {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.kind.fill(reader),
            _ => self.option.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Holder {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("kind", &self.kind);
        object.optional("option", &self.option);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for HolderKind {
    fn blank() -> Self {
        Self::A
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["a", "b"])? {
            0 => Self::A,
            _ => Self::B,
        };
        Ok(())
    }
}

impl Encode for HolderKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for OptionItem {
    fn blank() -> Self {
        Self {
            value: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("OptionItem", &["value"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for OptionItem {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.value.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for OptionItem {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("value", &self.value);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Holder, HolderKind, OptionItem);
