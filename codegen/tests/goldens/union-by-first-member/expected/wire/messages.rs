//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

use crate::{BlobContents, Contents, TextContents};

mcp_wire::record! {
    BlobContents open {
        0 "blob": required blob;
        1 "uri": optional uri;
    }
}

impl Decode for Contents {
    fn blank() -> Self {
        Self::Text(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Contents", &[&["text"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::Text(Decode::blank()),
            Some(_) => *self = Self::Blob(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        match self {
            Self::Text(value) => value.fill(reader),
            Self::Blob(value) => value.fill(reader),
        }
    }
}

impl Encode for Contents {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Text(value) => value.encode(writer),
            Self::Blob(value) => value.encode(writer),
        }
    }
}

mcp_wire::record! {
    TextContents open {
        0 "text": required text;
        1 "uri": optional uri;
    }
}

mcp_wire::serde_bridge!(BlobContents, Contents, TextContents);
