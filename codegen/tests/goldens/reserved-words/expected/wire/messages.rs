//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Word, Words};

impl Decode for Word {
    fn blank() -> Self {
        Self::SelfValue
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["self", "type"])? {
            0 => Self::SelfValue,
            _ => Self::Type,
        };
        Ok(())
    }
}

impl Encode for Word {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::record! {
    Words open {
        2 "$ref": optional ref_;
        3 "async": optional async_;
        0 "member": required member;
        4 "object": optional object;
        5 "reader": optional reader;
        6 "self": optional self_;
        1 "type": required type_;
    }
}

mcp_wire::serde_bridge!(Word, Words);
