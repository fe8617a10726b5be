//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag, TagFound};

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

impl Moment {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Moment", "at", &["start"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => *self = Self::Begun(Decode::blank()),
            TagFound::Other => *self = Self::Custom(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Moment {
        blank Begun decide;
        Begun(Begun) as_begun;
        Custom(Custom) as_custom;
    }
}

mcp_wire::serde_bridge!(Begun, Custom, Moment);
