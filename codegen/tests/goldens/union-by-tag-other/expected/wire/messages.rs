//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Tag, TagFound, Writer};

use crate::{OtherReference, Reference, ToolReference};

impl Decode for OtherReference {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("OtherReference", &["id", "kind"]);
        let mut id = None;
        let mut kind = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => id = reader.optional()?,
                _ => kind = Some(reader.value()?),
            }
        }
        Ok(Self {
            id,
            kind: object.require(1, kind)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for OtherReference {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("id", &self.id);
        object.member("kind", &self.kind);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Reference {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static TAG: Tag = Tag::new("Reference", "kind", &["tool"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => reader.value().map(Self::Tool),
            TagFound::Other => reader.value().map(Self::Other),
            TagFound::Absent => Err(reader.missing_tag(&TAG)),
        }
    }
}

impl Encode for Reference {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Tool(value) => value.encode(writer),
            Self::Other(value) => value.encode(writer),
        }
    }
}

impl Decode for ToolReference {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ToolReference", &["kind", "name"]);
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("tool")?,
                _ => name = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            name: object.require(1, name)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for ToolReference {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("kind", "tool");
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(OtherReference, Reference, ToolReference);
