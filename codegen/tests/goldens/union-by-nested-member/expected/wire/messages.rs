//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

use crate::{PlainSchema, Schema, TitledSchema, TitledSchemaItems};

mcp_wire::record! {
    PlainSchema open {
        0 "items": required items;
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

mcp_wire::record! {
    TitledSchema open {
        0 "items": required items;
    }
}

mcp_wire::record! {
    TitledSchemaItems open {
        0 "titles": required titles;
    }
}

mcp_wire::serde_bridge!(PlainSchema, Schema, TitledSchema, TitledSchemaItems);
