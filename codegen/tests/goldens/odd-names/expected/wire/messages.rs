//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{ABCD, Größe, Quoted, Uses};

impl Decode for ABCD {
    fn blank() -> Self {
        Self(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.0.fill(reader)
    }
}

impl Encode for ABCD {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

mcp_wire::record! {
    Größe open {
        1 "1st": optional n1st;
        2 "a-b": optional a_b;
        0 "größe": required größe;
    }
}

mcp_wire::record! {
    Quoted open {
        const 0 "c": constant("x\"y");
        const 1 "e\u{1}": constant_literal("1");
        2 "a\"b": required a_b;
        3 "d\\": optional d;
    }
}

mcp_wire::record! {
    Uses open {
        0 "record": optional record;
        1 "text": optional text;
    }
}

mcp_wire::serde_bridge!(ABCD, Größe, Quoted, Uses);
