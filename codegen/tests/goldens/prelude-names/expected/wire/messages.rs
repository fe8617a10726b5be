//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Holder, HolderKind, OptionItem};

mcp_wire::record! {
    Holder open {
        0 "kind": optional kind;
        1 "option": optional option;
    }
}

impl Decode for HolderKind {
    fn blank() -> Self {
        Self::A
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["a", "b"])? {
            0 => Self::A,
            _ => Self::B,
        };
        Ok(())
    }
}

impl Encode for HolderKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::record! {
    OptionItem open {
        0 "value": required value;
    }
}

mcp_wire::serde_bridge!(Holder, HolderKind, OptionItem);
