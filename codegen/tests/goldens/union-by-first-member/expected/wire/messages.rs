//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Paths, Reader, Record, Writer,
};

use crate::{BlobContents, Contents, TextContents};

impl Decode for BlobContents {
    fn blank() -> Self {
        Self {
            blob: String::new(),
            uri: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("BlobContents", &["blob", "uri"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for BlobContents {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.blob.fill(reader),
            _ => self.uri.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for BlobContents {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("blob", &self.blob);
        object.optional("uri", &self.uri);
        object.extra(&self.extra);
        object.end();
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

impl Decode for TextContents {
    fn blank() -> Self {
        Self {
            text: String::new(),
            uri: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TextContents", &["text", "uri"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TextContents {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.text.fill(reader),
            _ => self.uri.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for TextContents {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("text", &self.text);
        object.optional("uri", &self.uri);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(BlobContents, Contents, TextContents);
