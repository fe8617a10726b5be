//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{
    BlobContents, Choice, Contents, PlainChoice, PlainSchema, Schema, TitledChoice,
    TitledSchema,
};

mcp_wire::record! {
    BlobContents open {
        0 "blob": required blob;
        1 "uri": optional uri;
    }
}

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
        Plain(PlainChoice) as_plain;
        Titled(TitledChoice) as_titled;
    }
}

impl Contents {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Contents", &[&["values"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::PlainChoice(Decode::blank()),
            Some(_) => *self = Self::BlobContents(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Contents {
        blank PlainChoice decide;
        PlainChoice(PlainChoice) as_plain_choice;
        BlobContents(BlobContents) as_blob_contents;
    }
}

mcp_wire::record! {
    PlainChoice open {
        0 "values": required values;
    }
}

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
        Plain(PlainSchema) as_plain;
        Titled(TitledSchema) as_titled;
    }
}

mcp_wire::record! {
    TitledChoice open {
        0 "titles": required titles;
        1 "values": required values;
    }
}

mcp_wire::record! {
    TitledSchema open {
        0 "items": required items;
    }
}

mcp_wire::serde_bridge!(
    BlobContents, Choice, Contents, PlainChoice, PlainSchema, Schema, TitledChoice,
    TitledSchema
);
