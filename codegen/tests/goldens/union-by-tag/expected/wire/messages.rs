//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Tag, Writer};

use crate::{CircleShape, Shape, SquareShape};

impl Decode for CircleShape {
    fn blank() -> Self {
        Self {
            radius: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("CircleShape", &["type", "radius"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for CircleShape {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("circle"),
            _ => self.radius.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self::Circle(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Shape", "type", &["circle", "square"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Circle(Decode::blank()),
            Some(_) => *self = Self::Square(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Circle(value) => value.fill(reader),
            Self::Square(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self {
            side: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("SquareShape", &["type", "side"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for SquareShape {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("square"),
            _ => self.side.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
