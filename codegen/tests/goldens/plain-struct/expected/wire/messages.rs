//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::Point;

impl Decode for Point {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Point", &["label", "pinned", "x", "y"]);
        let mut label = None;
        let mut pinned = None;
        let mut x = None;
        let mut y = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => label = Some(reader.value()?),
                1 => pinned = Some(reader.value()?),
                2 => x = Some(reader.value()?),
                _ => y = Some(reader.value()?),
            }
        }
        Ok(Self {
            label: object.require(0, label)?,
            pinned: object.require(1, pinned)?,
            x: object.require(2, x)?,
            y: object.require(3, y)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Point {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("label", &self.label);
        object.member("pinned", &self.pinned);
        object.member("x", &self.x);
        object.member("y", &self.y);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Point);
