//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Kind, Reader};

use crate::{Expression, Negation, Tree};

impl Expression {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::Object => *self = Self::Negation(Decode::blank()),
            Kind::String => *self = Self::String(Decode::blank()),
            _ => return Err(reader.refuse("an object or a string")),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Expression {
        blank String decide;
        String(String) as_string;
        Negation(box Negation) as_negation;
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
