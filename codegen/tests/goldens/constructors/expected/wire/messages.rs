//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Author, Page, PageScope};

impl Decode for Author {
    fn blank() -> Self {
        Self {
            name: None,
            speaks: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Author", &["speaks", "name"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Author {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.speaks.fill(reader),
            _ => self.name.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Author {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("name", &self.name);
        object.member("speaks", &self.speaks);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Page {
    fn blank() -> Self {
        Self {
            body: String::new(),
            by: Decode::blank(),
            number: Decode::blank(),
            scope: Decode::blank(),
            uri: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "Page",
                &["body", "by", "number", "scope", "uri"],
            )
            .requiring(&[0, 1, 2, 3, 4]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Page {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.body.fill(reader),
            1 => self.by.fill(reader),
            2 => self.number.fill(reader),
            3 => self.scope.fill(reader),
            _ => self.uri.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Page {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("body", &self.body);
        object.member("by", &self.by);
        object.member("number", &self.number);
        object.member("scope", &self.scope);
        object.member("uri", &self.uri);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for PageScope {
    fn blank() -> Self {
        Self::All
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["all", "mine"])? {
            0 => Self::All,
            _ => Self::Mine,
        };
        Ok(())
    }
}

impl Encode for PageScope {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Author, Page, PageScope);
