//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Tag, TagFound, Writer,
};

use crate::{OtherReference, Reference, ToolReference};

impl Decode for OtherReference {
    fn blank() -> Self {
        Self {
            id: None,
            kind: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("OtherReference", &["kind", "id"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for OtherReference {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.kind.fill(reader),
            _ => self.id.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self::Tool(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Reference", "kind", &["tool"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => *self = Self::Tool(Decode::blank()),
            TagFound::Other => *self = Self::Other(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Tool(value) => value.fill(reader),
            Self::Other(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self {
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("ToolReference", &["kind", "name"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ToolReference {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("tool"),
            _ => self.name.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
