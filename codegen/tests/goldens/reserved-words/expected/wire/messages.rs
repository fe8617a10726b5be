//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Word, Words};

impl Decode for Word {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(
            match reader.string_enum(&["self", "type"])? {
                0 => Self::SelfValue,
                _ => Self::Type,
            },
        )
    }
}

impl Encode for Word {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for Words {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Words",
            &["$ref", "async", "member", "object", "reader", "self", "type"],
        );
        let mut async_ = None;
        let mut member_ = None;
        let mut object_ = None;
        let mut reader_ = None;
        let mut ref_ = None;
        let mut self_ = None;
        let mut type_ = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => ref_ = reader.optional()?,
                1 => async_ = reader.optional()?,
                2 => member_ = Some(reader.value()?),
                3 => object_ = reader.optional()?,
                4 => reader_ = reader.optional()?,
                5 => self_ = reader.optional()?,
                _ => type_ = Some(reader.value()?),
            }
        }
        Ok(Self {
            ref_,
            async_,
            member: object.require(2, member_)?,
            object: object_,
            reader: reader_,
            self_,
            type_: object.require(6, type_)?,
            extra: object.into_extra(),
        })
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
