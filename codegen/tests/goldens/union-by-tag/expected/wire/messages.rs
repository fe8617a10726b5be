//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, Writer};

use crate::{CircleShape, Shape, SquareShape};

mcp_wire::record! {
    CircleShape open {
        const 0 "type": constant("circle");
        1 "radius": required radius;
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

mcp_wire::record! {
    SquareShape open {
        const 0 "type": constant("square");
        1 "side": required side;
    }
}

mcp_wire::serde_bridge!(CircleShape, Shape, SquareShape);
