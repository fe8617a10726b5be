//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Kind, Reader, Writer};

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

mcp_wire::record! {
    Negation open {
        0 "of": required of;
    }
}

mcp_wire::record! {
    Tree open {
        1 "children": optional children;
        2 "left": optional left;
        0 "value": required value;
    }
}

mcp_wire::serde_bridge!(Expression, Negation, Tree);
