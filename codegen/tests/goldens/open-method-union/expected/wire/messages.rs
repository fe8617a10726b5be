//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag, TagFound};

use crate::{DoneNotification, LogNotification, ServerNotification};

impl ServerNotification {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
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
        Ok(())
    }
}

mcp_wire::variants! {
    ServerNotification {
        blank Unknown decide;
        Log(LogNotification);
        Done(DoneNotification);
        Unknown;
    }
}

mcp_wire::serde_bridge!(ServerNotification);
