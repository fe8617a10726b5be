//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag, TagFound};

use crate::{OtherReference, Reference, ToolReference};

mcp_wire::record! {
    OtherReference open {
        1 "id": optional id;
        0 "kind": required kind;
    }
}

impl Reference {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Reference", "kind", &["tool"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => *self = Self::Tool(Decode::blank()),
            TagFound::Other => *self = Self::Other(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Reference {
        blank Tool decide;
        Tool(ToolReference);
        Other(OtherReference);
    }
}

mcp_wire::record! {
    ToolReference open {
        const 0 "kind": constant("tool");
        1 "name": required name;
    }
}

mcp_wire::serde_bridge!(OtherReference, Reference, ToolReference);
