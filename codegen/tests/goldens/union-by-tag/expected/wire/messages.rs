//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Tag, Writer};

use crate::{CircleShape, Shape, SquareShape};

impl Decode for CircleShape {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("CircleShape", &["type", "radius"]);
        let mut radius = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("circle")?,
                _ => radius = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            radius: object.require(1, radius)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for CircleShape {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("type", "circle");
        object.member("radius", &self.radius);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Shape {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static TAG: Tag = Tag::new("Shape", "type", &["circle", "square"]);
        match reader.tag(&TAG)? {
            Some(0) => reader.value().map(Self::Circle),
            Some(_) => reader.value().map(Self::Square),
            None => Err(reader.missing_tag(&TAG)),
        }
    }
}

impl Encode for Shape {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Circle(value) => value.encode(writer),
            Self::Square(value) => value.encode(writer),
        }
    }
}

impl Decode for SquareShape {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("SquareShape", &["type", "side"]);
        let mut side = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("square")?,
                _ => side = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            side: object.require(1, side)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for SquareShape {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("type", "square");
        object.member("side", &self.side);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(CircleShape, Shape, SquareShape);
