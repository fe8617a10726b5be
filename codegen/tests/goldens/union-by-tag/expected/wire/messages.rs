//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag, TagFound};

use crate::{
    AnyShape, CircleShape, LineShape, LineShapeType, OtherShape, Outline, Shape,
    SquareShape,
};

impl AnyShape {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("AnyShape", "type", &["circle"]);
        match reader.tag_or_other(&TAG)? {
            TagFound::Known(_) => *self = Self::Circle(Decode::blank()),
            TagFound::Other => *self = Self::Other(Decode::blank()),
            TagFound::Absent => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    AnyShape {
        blank Circle decide;
        Circle(CircleShape) as_circle;
        Other(OtherShape) as_other;
    }
}

mcp_wire::record! {
    CircleShape open {
        const 0 "type": constant("circle");
        1 "radius": required radius;
    }
}

mcp_wire::record! {
    LineShape open {
        0 "length": required length;
        1 "type": optional type_;
    }
}

mcp_wire::strings! {
    LineShapeType {
        Line "line";
    }
}

mcp_wire::record! {
    OtherShape open {
        1 "id": optional id;
        0 "type": required type_;
    }
}

impl Outline {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::optional("Outline", "type", &["line", "square"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Line(Decode::blank()),
            Some(_) => *self = Self::Square(Decode::blank()),
            None => *self = Self::Line(Decode::blank()),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Outline {
        blank Line decide;
        Line(LineShape) as_line;
        Square(SquareShape) as_square;
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
        Circle(CircleShape) as_circle;
        Square(SquareShape) as_square;
    }
}

mcp_wire::record! {
    SquareShape open {
        const 0 "type": constant("square");
        1 "side": required side;
    }
}

mcp_wire::serde_bridge!(
    AnyShape, CircleShape, LineShape, LineShapeType, OtherShape, Outline, Shape,
    SquareShape
);
