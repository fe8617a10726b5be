//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{File, Measured, Named};

impl Decode for File {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "File",
            &["kind", "meta", "name", "size"],
        );
        let mut meta = None;
        let mut name = None;
        let mut size = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("file")?,
                1 => meta = reader.optional()?,
                2 => name = Some(reader.value()?),
                _ => size = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            meta,
            name: object.require(2, name)?,
            size: object.require(3, size)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for File {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("kind", "file");
        object.optional("meta", &self.meta);
        object.member("name", &self.name);
        object.member("size", &self.size);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Measured {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Measured", &["meta", "size"]);
        let mut meta = None;
        let mut size = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                _ => size = reader.optional()?,
            }
        }
        Ok(Self {
            meta,
            size,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Measured {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("meta", &self.meta);
        object.optional("size", &self.size);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Named {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Named", &["meta", "name"]);
        let mut meta = None;
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                _ => name = Some(reader.value()?),
            }
        }
        Ok(Self {
            meta,
            name: object.require(1, name)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Named {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("meta", &self.meta);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(File, Measured, Named);
