//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{BlobContents, Contents, TextContents};

impl Decode for BlobContents {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("BlobContents", &["blob", "uri"]);
        let mut blob = None;
        let mut uri = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => blob = Some(reader.value()?),
                _ => uri = reader.optional()?,
            }
        }
        Ok(Self {
            blob: object.require(0, blob)?,
            uri,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("Contents", &[&["text"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => reader.value().map(Self::Text),
            Some(_) => reader.value().map(Self::Blob),
            None => Err(reader.undecided(&PATHS)),
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TextContents", &["text", "uri"]);
        let mut text = None;
        let mut uri = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => text = Some(reader.value()?),
                _ => uri = reader.optional()?,
            }
        }
        Ok(Self {
            text: object.require(0, text)?,
            uri,
            extra: object.into_extra(),
        })
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
