//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, Writer};

use crate::{Answer, Done, Open, OrderResult, OrderResultDone, OrderResultOpen};

mcp_wire::record! {
    Answer open {
        0 "note": optional note;
    }
}

mcp_wire::record! {
    Done open {
        const 0 "state": constant("done");
    }
}

mcp_wire::record! {
    Open open {
        const 0 "state": constant("open");
        1 "since": required since;
    }
}

impl Decode for OrderResult {
    fn blank() -> Self {
        Self::Open(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("OrderResult", "state", &["done", "open"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Done(Decode::blank()),
            Some(_) => *self = Self::Open(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Open(value) => value.fill(reader),
            Self::Done(value) => value.fill(reader),
        }
    }
}

impl Encode for OrderResult {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Open(value) => value.encode(writer),
            Self::Done(value) => value.encode(writer),
        }
    }
}

mcp_wire::record! {
    OrderResultDone open {
        const 0 "state": constant("done");
        1 "note": optional note;
    }
}

mcp_wire::record! {
    OrderResultOpen open {
        const 0 "state": constant("open");
        2 "note": optional note;
        1 "since": required since;
    }
}

mcp_wire::serde_bridge!(
    Answer, Done, Open, OrderResult, OrderResultDone, OrderResultOpen
);
