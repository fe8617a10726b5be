//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Count, Cursor, Flag, Ratio};

impl Decode for Count {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for Count {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Cursor {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for Cursor {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Flag {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for Flag {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for Ratio {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value().map(Self)
    }
}

impl Encode for Ratio {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::serde_bridge!(Count, Cursor, Flag, Ratio);
