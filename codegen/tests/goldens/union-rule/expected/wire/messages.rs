//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

use crate::{Answer, Long, Outcome, Short};

impl Decode for Answer {
    fn blank() -> Self {
        Self::Short(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = Self::Short(Decode::blank());
        match self {
            Self::Short(value) => value.fill(reader),
            Self::Long(value) => value.fill(reader),
        }
    }
}

impl Encode for Answer {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

mcp_wire::record! {
    Long open {
        0 "a": optional a;
        1 "b": optional b;
    }
}

impl Decode for Outcome {
    fn blank() -> Self {
        Self::Short(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Outcome", &[&["b", "next"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            *self = Self::Long(Decode::blank())
        } else {
            *self = Self::Short(Decode::blank())
        }
        match self {
            Self::Short(value) => value.fill(reader),
            Self::Long(value) => value.fill(reader),
        }
    }
}

impl Encode for Outcome {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Short(value) => value.encode(writer),
            Self::Long(value) => value.encode(writer),
        }
    }
}

mcp_wire::record! {
    Short open {
        0 "a": optional a;
    }
}

mcp_wire::serde_bridge!(Answer, Long, Outcome, Short);
