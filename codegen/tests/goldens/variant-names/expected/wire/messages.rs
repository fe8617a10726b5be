//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, TagFound, Writer};

use crate::{Begun, Custom, Moment};

mcp_wire::record! {
    Begun open {
        const 0 "at": constant("start");
    }
}

mcp_wire::record! {
    Custom open {
        0 "at": required at;
    }
}

impl Decode for Moment {
    fn blank() -> Self {
        Self::Begun(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Moment", "at", &["start"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => *self = Self::Begun(Decode::blank()),
            TagFound::Other => *self = Self::Custom(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Begun(value) => value.fill(reader),
            Self::Custom(value) => value.fill(reader),
        }
    }
}

impl Encode for Moment {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Begun(value) => value.encode(writer),
            Self::Custom(value) => value.encode(writer),
        }
    }
}

mcp_wire::serde_bridge!(Begun, Custom, Moment);
