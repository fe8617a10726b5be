//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Holder, HolderKind, OptionItem};

impl Decode for Holder {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Holder", &["kind", "option"]);
        let mut kind = None;
        let mut option = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => kind = reader.optional()?,
                _ => option = reader.optional()?,
            }
        }
        Ok(Self {
            kind,
            option,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Holder {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("kind", &self.kind);
        object.optional("option", &self.option);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for HolderKind {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(
            match reader.string_enum(&["a", "b"])? {
                0 => Self::A,
                _ => Self::B,
            },
        )
    }
}

impl Encode for HolderKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for OptionItem {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("OptionItem", &["value"]);
        let mut value = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            value = Some(reader.value()?);
        }
        Ok(Self {
            value: object.require(0, value)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for OptionItem {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("value", &self.value);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Holder, HolderKind, OptionItem);
