//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Kind, Map, Members, Reader, Record, Writer};

use crate::{Expression, Negation, Tree};

impl Decode for Expression {
    fn blank() -> Self {
        Self::String(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::Object => *self = Self::Negation(Decode::blank()),
            Kind::String => *self = Self::String(Decode::blank()),
            _ => return Err(reader.refuse("an object or a string")),
        }
        match self {
            Self::String(value) => value.fill(reader),
            Self::Negation(value) => value.fill(reader),
        }
    }
}

impl Encode for Expression {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::String(value) => value.encode(writer),
            Self::Negation(value) => value.encode(writer),
        }
    }
}

impl Decode for Negation {
    fn blank() -> Self {
        Self {
            of: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Negation", &["of"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Negation {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.of.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Negation {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("of", &self.of);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tree {
    fn blank() -> Self {
        Self {
            children: None,
            left: None,
            value: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Tree", &["value", "children", "left"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tree {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.value.fill(reader),
            1 => self.children.fill(reader),
            _ => self.left.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Tree {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("children", &self.children);
        object.optional("left", &self.left);
        object.member("value", &self.value);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Expression, Negation, Tree);
