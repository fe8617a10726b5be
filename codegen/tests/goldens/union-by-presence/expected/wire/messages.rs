//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Paths, Reader, Record, Writer,
};

use crate::{Choice, PlainChoice, TitledChoice};

impl Decode for Choice {
    fn blank() -> Self {
        Self::Plain(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Choice", &[&["titles"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            *self = Self::Titled(Decode::blank())
        } else {
            *self = Self::Plain(Decode::blank())
        }
        match self {
            Self::Plain(value) => value.fill(reader),
            Self::Titled(value) => value.fill(reader),
        }
    }
}

impl Encode for Choice {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Plain(value) => value.encode(writer),
            Self::Titled(value) => value.encode(writer),
        }
    }
}

impl Decode for PlainChoice {
    fn blank() -> Self {
        Self {
            values: Vec::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("PlainChoice", &["values"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for PlainChoice {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.values.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for PlainChoice {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("values", &self.values);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TitledChoice {
    fn blank() -> Self {
        Self {
            titles: Vec::new(),
            values: Vec::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TitledChoice", &["titles", "values"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TitledChoice {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.titles.fill(reader),
            _ => self.values.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for TitledChoice {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("titles", &self.titles);
        object.member("values", &self.values);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Choice, PlainChoice, TitledChoice);
