//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, TagFound, Writer};

use crate::{OtherReference, Reference, ToolReference};

mcp_wire::record! {
    OtherReference open {
        1 "id": optional id;
        0 "kind": required kind;
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

mcp_wire::record! {
    ToolReference open {
        const 0 "kind": constant("tool");
        1 "name": required name;
    }
}

mcp_wire::serde_bridge!(OtherReference, Reference, ToolReference);
