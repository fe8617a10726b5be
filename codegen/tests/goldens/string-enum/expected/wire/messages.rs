//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Level, Only};

impl Decode for Level {
    fn blank() -> Self {
        Self::N2d
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader
            .string_enum(&["2d", "N/A", "date-time", "debug", "thisServer"])?
        {
            0 => Self::N2d,
            1 => Self::NA,
            2 => Self::DateTime,
            3 => Self::Debug,
            _ => Self::ThisServer,
        };
        Ok(())
    }
}

impl Encode for Level {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for Only {
    fn blank() -> Self {
        Self::One
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.string_enum(&["one"])?;
        Ok(())
    }
}

impl Encode for Only {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Level, Only);
