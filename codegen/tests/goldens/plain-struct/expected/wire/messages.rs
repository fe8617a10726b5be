//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::Point;

impl Decode for Point {
    fn blank() -> Self {
        Self {
            label: String::new(),
            pinned: false,
            x: Decode::blank(),
            y: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Point", &["label", "pinned", "x", "y"])
            .requiring(&[0, 1, 2, 3]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Point {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.label.fill(reader),
            1 => self.pinned.fill(reader),
            2 => self.x.fill(reader),
            _ => self.y.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
