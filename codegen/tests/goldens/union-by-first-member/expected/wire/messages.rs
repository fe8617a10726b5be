//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{BlobContents, Contents, TextContents};

mcp_wire::record! {
    BlobContents open {
        0 "blob": required blob;
        1 "uri": optional uri;
    }
}

impl Contents {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Contents", &[&["text"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::Text(Decode::blank()),
            Some(_) => *self = Self::Blob(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Contents {
        blank Text decide;
        Text(TextContents);
        Blob(BlobContents);
    }
}

mcp_wire::record! {
    TextContents open {
        0 "text": required text;
        1 "uri": optional uri;
    }
}

mcp_wire::serde_bridge!(BlobContents, Contents, TextContents);
