//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{Choice, PlainChoice, TitledChoice};

impl Choice {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Choice", &[&["titles"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            *self = Self::Titled(Decode::blank())
        } else {
            *self = Self::Plain(Decode::blank())
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Choice {
        blank Plain decide;
        Plain(PlainChoice);
        Titled(TitledChoice);
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
