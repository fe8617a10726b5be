//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Paths, Reader, Record, Writer,
};

use crate::{PlainSchema, Schema, TitledSchema, TitledSchemaItems};

impl Decode for PlainSchema {
    fn blank() -> Self {
        Self {
            items: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("PlainSchema", &["items"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for PlainSchema {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.items.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for PlainSchema {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("items", &self.items);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Schema {
    fn blank() -> Self {
        Self::Plain(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Schema", &[&["items", "titles"]]);
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

impl Encode for Schema {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Plain(value) => value.encode(writer),
            Self::Titled(value) => value.encode(writer),
        }
    }
}

impl Decode for TitledSchema {
    fn blank() -> Self {
        Self {
            items: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TitledSchema", &["items"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TitledSchema {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.items.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for TitledSchema {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("items", &self.items);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TitledSchemaItems {
    fn blank() -> Self {
        Self {
            titles: Vec::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TitledSchemaItems", &["titles"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TitledSchemaItems {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.titles.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for TitledSchemaItems {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("titles", &self.titles);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(PlainSchema, Schema, TitledSchema, TitledSchemaItems);
