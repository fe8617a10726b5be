//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Word, Words};

impl Decode for Word {
    fn blank() -> Self {
        Self::SelfValue
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["self", "type"])? {
            0 => Self::SelfValue,
            _ => Self::Type,
        };
        Ok(())
    }
}

impl Encode for Word {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for Words {
    fn blank() -> Self {
        Self {
            async_: None,
            member: Decode::blank(),
            object: None,
            reader: None,
            ref_: None,
            self_: None,
            type_: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "Words",
                &["member", "type", "$ref", "async", "object", "reader", "self"],
            )
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Words {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.member.fill(reader),
            1 => self.type_.fill(reader),
            2 => self.ref_.fill(reader),
            3 => self.async_.fill(reader),
            4 => self.object.fill(reader),
            5 => self.reader.fill(reader),
            _ => self.self_.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Words {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("$ref", &self.ref_);
        object.optional("async", &self.async_);
        object.member("member", &self.member);
        object.optional("object", &self.object);
        object.optional("reader", &self.reader);
        object.optional("self", &self.self_);
        object.member("type", &self.type_);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Word, Words);
