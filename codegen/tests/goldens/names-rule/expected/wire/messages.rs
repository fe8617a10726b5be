//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Hints, Other, Tool, UrlValue};

mcp_wire::record! {
    Hints open {
        0 "a": optional a;
    }
}

mcp_wire::record! {
    Other open {
        0 "_meta": optional meta;
    }
}

mcp_wire::record! {
    Tool open {
        0 "_meta": optional meta;
        1 "hints": optional hints;
        2 "x.org/id": optional vendor_id;
    }
}

impl Decode for UrlValue {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for UrlValue {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::serde_bridge!(Hints, Other, Tool, UrlValue);
