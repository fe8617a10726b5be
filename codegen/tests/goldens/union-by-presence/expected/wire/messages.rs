//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

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

mcp_wire::record! {
    PlainChoice open {
        0 "values": required values;
    }
}

mcp_wire::record! {
    TitledChoice open {
        0 "titles": required titles;
        1 "values": required values;
    }
}

mcp_wire::serde_bridge!(Choice, PlainChoice, TitledChoice);
