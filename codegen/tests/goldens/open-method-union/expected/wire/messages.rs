//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, TagFound, Writer};

use crate::ServerNotification;

impl Decode for ServerNotification {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static TAG: Tag = Tag::new(
            "ServerNotification",
            "method",
            &["notifications/done", "notifications/log"],
        );
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(0) => reader.value().map(Self::Done),
            TagFound::Known(_) => reader.value().map(Self::Log),
            TagFound::Other => reader.value().map(Self::Unknown),
            TagFound::Absent => Err(reader.missing_tag(&TAG)),
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
