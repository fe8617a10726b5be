//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, TagFound, Writer};

use crate::ServerNotification;

impl Decode for ServerNotification {
    fn blank() -> Self {
        Self::Unknown(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new(
            "ServerNotification",
            "method",
            &["notifications/done", "notifications/log"],
        );
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(0) => *self = Self::Done(Decode::blank()),
            TagFound::Known(_) => *self = Self::Log(Decode::blank()),
            TagFound::Other => *self = Self::Unknown(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Log(value) => value.fill(reader),
            Self::Done(value) => value.fill(reader),
            Self::Unknown(value) => value.fill(reader),
        }
    }
}

impl Encode for ServerNotification {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Log(value) => value.encode(writer),
            Self::Done(value) => value.encode(writer),
            Self::Unknown(value) => value.encode(writer),
        }
    }
}

mcp_wire::serde_bridge!(ServerNotification);
