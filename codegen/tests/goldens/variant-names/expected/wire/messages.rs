//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Tag, TagFound, Writer,
};

use crate::{Begun, Custom, Moment};

impl Decode for Begun {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Begun", &["at"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Begun {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.constant("start")
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Begun {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("at", "start");
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Custom {
    fn blank() -> Self {
        Self {
            at: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Custom", &["at"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Custom {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.at.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Custom {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("at", &self.at);
        object.extra(&self.extra);
        object.end();
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
