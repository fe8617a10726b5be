//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Owner, Task};

impl Decode for Owner {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Owner", &["name"]);
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            name = Some(reader.value()?);
        }
        Ok(Self {
            name: object.require(0, name)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Owner {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Task {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Task", &["note", "owner", "ttl"]);
        let mut note = None;
        let mut owner = None;
        let mut ttl = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => note = reader.optional()?,
                1 => owner = Some(reader.value()?),
                _ => ttl = Some(reader.value()?),
            }
        }
        Ok(Self {
            note,
            owner: object.require(1, owner)?,
            ttl: object.require(2, ttl)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Task {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("note", &self.note);
        object.member("owner", &self.owner);
        object.member("ttl", &self.ttl);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Owner, Task);
