//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Form, FormKind};

impl Decode for Form {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Form", &["kind", "title"]);
        let mut kind = None;
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => kind = reader.optional()?,
                _ => title = Some(reader.value()?),
            }
        }
        Ok(Self {
            kind,
            title: object.require(1, title)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Form {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("kind", &self.kind);
        object.member("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for FormKind {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.string_enum(&["form"]).map(|_| Self::Form)
    }
}

impl Encode for FormKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Form, FormKind);
