//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Count, Cursor, Flag, Ratio};

impl Decode for Count {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for Count {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Cursor {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for Cursor {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Flag {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for Flag {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Ratio {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for Ratio {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::serde_bridge!(Count, Cursor, Flag, Ratio);
