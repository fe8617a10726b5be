//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Form, FormKind};

mcp_wire::record! {
    Form open {
        1 "kind": optional kind;
        0 "title": required title;
    }
}

impl Decode for FormKind {
    fn blank() -> Self {
        Self::Form
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.string_enum(&["form"])?;
        Ok(())
    }
}

impl Encode for FormKind {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Form, FormKind);
