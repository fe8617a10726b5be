//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag};

use crate::{CircleShape, Shape, SquareShape};

mcp_wire::record! {
    CircleShape open {
        const 0 "type": constant("circle");
        1 "radius": required radius;
    }
}

impl Shape {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("Shape", "type", &["circle", "square"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Circle(Decode::blank()),
            Some(_) => *self = Self::Square(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Shape {
        blank Circle decide;
        Circle(CircleShape);
        Square(SquareShape);
    }
}

mcp_wire::record! {
    SquareShape open {
        const 0 "type": constant("square");
        1 "side": required side;
    }
}

mcp_wire::serde_bridge!(CircleShape, Shape, SquareShape);
