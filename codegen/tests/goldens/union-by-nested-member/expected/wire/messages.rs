//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{PlainSchema, Schema, TitledSchema, TitledSchemaItems};

mcp_wire::record! {
    PlainSchema open {
        0 "items": required items;
    }
}

impl Schema {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Schema", &[&["items", "titles"]]);
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
    Schema {
        blank Plain decide;
        Plain(PlainSchema);
        Titled(TitledSchema);
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
