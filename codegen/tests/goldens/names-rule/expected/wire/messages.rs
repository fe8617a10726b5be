//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Hints, Other, Tool, UrlValue};

impl Decode for Hints {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Hints", &["a"]);
        let mut a = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            a = reader.optional()?;
        }
        Ok(Self {
            a,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Hints {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("a", &self.a);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Other {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Other", &["_meta"]);
        let mut meta = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            meta = reader.optional()?;
        }
        Ok(Self {
            meta,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Other {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Tool", &["_meta", "hints", "x.org/id"]);
        let mut hints = None;
        let mut meta = None;
        let mut vendor_id = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                1 => hints = reader.optional()?,
                _ => vendor_id = reader.optional()?,
            }
        }
        Ok(Self {
            meta,
            hints,
            vendor_id,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.optional("hints", &self.hints);
        object.optional("x.org/id", &self.vendor_id);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for UrlValue {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for UrlValue {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::serde_bridge!(Hints, Other, Tool, UrlValue);
